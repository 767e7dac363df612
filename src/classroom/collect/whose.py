"""Whose the downloaded files are, by their names and the roster."""

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from classroom.collect.names import Upload, read_upload
from classroom.roster import Person, Roster, letters


@dataclass(frozen=True)
class Owners:
    """by_student: uploads by nbgrader's name for the student. strangers: the names in the download
    of students who are not in the roster. hidden: students whose names Canvas hides. others: who
    the roster says has a number, by the name that the download has with it. nobodys: files whose
    names tell nothing."""

    by_student: dict[str, list[Upload]] = field(default_factory=dict)
    strangers: dict[str, str] = field(default_factory=dict)
    hidden: set[str] = field(default_factory=set)
    others: dict[str, str] = field(default_factory=dict)
    nobodys: list[Path] = field(default_factory=list)


def find_owners(extracted: Path, roster: Roster) -> Owners:
    """Whose each file is below the folder into which the downloads were unpacked."""
    owners, uploads = Owners(), []
    for path in sorted(path for path in extracted.rglob("*") if path.is_file()):
        if upload := read_upload(path, extracted):
            uploads.append(upload)
        else:
            owners.nobodys.append(path)
    often = Counter(name for name, _ in {(letters(u.name), u.lms) for u in uploads})
    for upload in uploads:
        only = often[letters(upload.name)] == 1  # else the name does not tell who it is
        person = roster.find(upload.lms, upload.name if only else "")
        if person and upload.is_moodles and not _agree(upload.name, person):
            owners.others[upload.name] = f"{upload.lms} is {person.name}"
            continue
        student = person.student if person else _stranger(upload, roster)
        if upload.is_hidden:
            owners.hidden.add(student)
        elif not person and roster.people:
            owners.strangers[student] = upload.name
        owners.by_student.setdefault(student, []).append(upload)
    return owners


def _stranger(upload: Upload, roster: Roster) -> str:
    """A name for somebody who is not in the roster, and that nobody has who is."""
    name = upload.lms.replace("_", "-")
    return f"lms-{name}" if name in roster.by_student else name


def _agree(name: str, person: Person) -> bool:
    """Whether the name in a download can be a person's: a group's number may be somebody's, too."""
    words = re.findall(r"\w+", unicodedata.normalize("NFKC", person.name).casefold())
    words = [word for word in words if len(word) > 1 or not word.isascii()]
    given = letters(name)
    known_as = [letters(value.rstrip("0123456789")) for value in person.row.values()]
    return not words or any(word in given for word in words) or given in known_as
