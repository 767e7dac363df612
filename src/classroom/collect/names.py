"""What the path of a downloaded file tells: whose it is, how often it was handed in, what it is.

Canvas   lastfirst_[LATE_]USER_UPLOAD_name.ipynb, with name-1.ipynb, name-2.ipynb handed in later;
         [LATE_]anon_CODE_UPLOAD_name.ipynb where it hides the names
Moodle   Full Name_ID_assignsubmission_file_/name.ipynb, or the same without a folder

A student's own archive is unpacked into a folder of its name, so both may be followed by folders.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path, PurePath, PurePosixPath

CANVAS = re.compile(
    r"(?P<name>.*?)(?P<late>[_-]late)?_(?P<lms>\d+)_(?P<upload>\d+)_(?P<file>.+)", re.IGNORECASE
)
HIDDEN = re.compile(
    r"(?P<late>late_)?(?P<lms>anon_[A-Z0-9]{5})_(?P<upload>\d+)_(?P<file>.+)", re.IGNORECASE
)
MOODLE = re.compile(
    r"(?P<name>.+)_(?P<lms>\d+)_assignsubmission_(?:file|onlinetext)(?:_(?P<file>.*))?"
)
NOBODYS = re.compile(r".+_assignsubmission_.*")  # a Moodle group without a number
COPY = re.compile(r"(?:copy of |kopie von |copie de )?(.+?)((?:-copy|-|\s*\(|_)(\d*)\)?)?", re.I)
CHECKS = "attention_lab"  # the copy beside a notebook is large, and never counts
JUNK = {"__MACOSX", ".DS_Store", ".ipynb_checkpoints", "__pycache__", CHECKS}
# nbgrader believes these, so nobody may hand them in.
NBGRADERS_OWN = {"timestamp.txt", "submission_secret.txt"}


@dataclass(frozen=True)
class Upload:
    """A file that somebody handed in.

    path: where it lies. lms: the student's number, or Canvas's code for one it hides. late: whether
    the LMS marks it so. upload: of two files that Canvas numbers, the higher was handed in later; 0
    elsewhere. inside: its path in what the student handed in. prefix: what a name begins with by
    which the LMS knows that something belongs to this upload. mtime: when the archive says that the
    file was changed; downloaded: when the archive itself was.
    """

    path: Path
    lms: str
    inside: PurePosixPath
    name: str = ""
    late: bool = False
    upload: int = 0
    prefix: str = field(default="", compare=False)
    mtime: float = field(default=0.0, compare=False)
    downloaded: float = field(default=0.0, compare=False)

    @property
    def is_hidden(self) -> bool:
        """Whether Canvas hides whose it is."""
        return not self.lms.isdecimal()

    @property
    def is_moodles(self) -> bool:
        return not self.upload

    @property
    def age(self) -> tuple[int, float, float, int]:
        """Sorts the uploads of one student from old to new."""
        return self.upload, self.mtime, self.downloaded, _number(self.inside.stem)


def read_upload(path: Path, below: Path) -> Upload | None:
    """What a file below the folder of extracted files is; None if its path does not tell.

    The outermost folder that names a student decides: what a student packs cannot speak for
    another. The first is the name of the LMS's archive, and names a student only if no other does.
    """
    parts = path.relative_to(below).parts
    for depth, part in enumerate(parts):
        match = MOODLE.fullmatch(part) or (_canvass(part) if depth else None)
        if match:
            return _upload(path, below, match, parts[depth + 1 :])
        if NOBODYS.fullmatch(part):
            return None
    match = _canvass(parts[0])
    return _upload(path, below, match, parts[1:]) if match else None


def _canvass(part: str) -> re.Match | None:
    return HIDDEN.fullmatch(part) or CANVAS.fullmatch(part)


def is_junk(upload: Upload) -> bool:
    """Whether a file is of no use to anybody, or would be taken for nbgrader's own."""
    return any(
        part in JUNK or part in NBGRADERS_OWN or part.startswith("._")
        for part in upload.inside.parts
    )


def right_name(name: str, wanted: Collection[str]) -> str | None:
    """The wanted file that a file's name means, apart from what is added to copies.

    >>> right_name("Heads-2.ipynb", ["heads.ipynb"]), right_name("heads (1).ipynb", ["heads.ipynb"])
    ('heads.ipynb', 'heads.ipynb')
    >>> right_name("my heads.ipynb", ["heads.ipynb"])
    """
    by_name = {other.lower(): other for other in wanted}
    path = PurePath(name.lower())
    plain = _without_copy(path.stem) + path.suffix
    return by_name.get(path.name) or by_name.get(plain)


def _upload(path: Path, below: Path, match: re.Match, rest: tuple[str, ...]) -> Upload:
    downloaded = (below / path.relative_to(below).parts[0]).stat().st_mtime
    groups = match.groupdict()
    return Upload(
        path,
        groups["lms"],
        PurePosixPath(*rest) if rest else PurePosixPath(groups["file"] or path.name),
        groups.get("name", ""),
        bool(groups.get("late")),
        int(groups.get("upload") or 0),
        _prefix(match, bool(rest)),
        path.stat().st_mtime,
        downloaded,
    )


def _prefix(match: re.Match, is_folder: bool) -> str:
    """Canvas knows an upload by its number; Moodle a student, by all but the file's name."""
    if "upload" in match.groupdict():
        return match.string[: match.end("upload")] + "_"
    start = match.end("name")
    name, rest = match["name"].replace("_", " "), match.string[start:]
    return f"{name}{rest}/" if is_folder else name + match.string[start : match.start("file")]


def read_name(name: str) -> str:
    """The number of the student to whom the LMS gives a file of this name.

    Canvas takes the first number between underscores, Moodle what stands behind the first.

    >>> read_name("doejane_LATE_11_901_a_2_.html")
    '11'
    >>> read_name("Jo Doe_7_assignsubmission_file_/a.html")
    '7'
    """
    if match := HIDDEN.fullmatch(name):
        return match["lms"]
    if "_assignsubmission_" in name:
        return name.split("_")[1]
    return next((part for part in name.split("_") if re.fullmatch(r"[0-9]+", part)), "")


def _without_copy(stem: str) -> str:
    return COPY.fullmatch(stem)[1]


def _number(stem: str) -> int:
    return int(COPY.fullmatch(stem)[3] or 0)
