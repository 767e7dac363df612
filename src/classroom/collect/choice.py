"""Of all that one student handed in: what is delivered, under which name, and what must be said."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from classroom.collect.names import Upload, is_junk, right_name

ALIKE = "; no time tells which is the newest: look which one is meant"


@dataclass(frozen=True)
class Choice:
    """delivered: uploads by the path below the student's folder under which they go there.
    remarks: what a human should know, in words."""

    delivered: Mapping[PurePosixPath, Upload]
    remarks: tuple[str, ...] = ()


def choose(uploads: Iterable[Upload], wanted: Collection[str]) -> Choice:
    """Choose among the uploads of one student; `wanted` are the names of the assignment's files.

    Of several files for one place, the newest is delivered. A notebook goes to the top under the
    name that it surely means, else under its own; what lay beside it stays beside it.
    """
    uploads = [upload for upload in uploads if not is_junk(upload)]
    places: dict[PurePosixPath, list[Upload]] = {}
    bases = {u.inside.parent for u in uploads if _notebook(u) and right_name(u.inside.name, wanted)}
    for upload in uploads:
        places.setdefault(_place(upload, wanted, bases), []).append(upload)
    places = {place: given for place, given in places.items() if not _is_in_a_file(place, places)}
    delivered = {place: sorted(given, key=lambda u: u.age)[-1] for place, given in places.items()}
    remarks = [_kept(given) for place, given in places.items() if _counts_twice(place, given)]
    remarks += _newer_than_wanted(delivered, wanted)
    if not any(place.suffix == ".ipynb" for place in delivered):
        remarks.append("no notebook was handed in")
    return Choice(delivered, tuple(remarks))


def _place(
    upload: Upload, wanted: Collection[str], bases: Collection[PurePosixPath]
) -> PurePosixPath:
    inside = upload.inside
    if _notebook(upload):
        return PurePosixPath(right_name(inside.name, wanted) or inside.name)
    above = [base for base in bases if base in inside.parents]
    return inside.relative_to(max(above, key=lambda base: len(base.parts))) if above else inside


def _is_in_a_file(place: PurePosixPath, places: Collection[PurePosixPath]) -> bool:
    """Whether a folder of the place's path is a file's, or would be taken for a notebook."""
    return any(above in places or above.suffix == ".ipynb" for above in place.parents)


def _notebook(upload: Upload) -> bool:
    return upload.inside.suffix == ".ipynb"


def _counts_twice(place: PurePosixPath, given: list[Upload]) -> bool:
    return place.suffix == ".ipynb" and len(given) > 1


def _kept(given: list[Upload]) -> str:
    *older, newest = sorted(given, key=lambda upload: upload.age)
    kept = ", ".join(str(upload.path) for upload in older)
    said = f"handed in {len(given)} times; the newest counts, {newest.path}; kept: {kept}"
    return said + ALIKE * (newest.age == older[-1].age)


def _newer_than_wanted(
    delivered: Mapping[PurePosixPath, Upload], wanted: Collection[str]
) -> list[str]:
    """Notebooks of another name that were handed in after the one that counts."""
    notebooks = {place: u for place, u in delivered.items() if place.suffix == ".ipynb"}
    counting = [u for place, u in notebooks.items() if str(place) in wanted]
    if not counting:
        return []
    latest = max(upload.upload for upload in counting)
    return [
        f"{place} was handed in after {counting[0].inside.name}: look which one is meant"
        for place, upload in notebooks.items()
        if str(place) not in wanted and upload.upload > latest
    ]
