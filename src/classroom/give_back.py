"""`python -m classroom.give_back mha`: the feedback pages as a zip file that the LMS takes.

Every page is named as the LMS named the student's work when it was downloaded: Moodle's *Upload
multiple feedback files in a zip* and Canvas's *Upload submissions* find the student by that. Works
in the folder of a course, the one with nbgrader_config.py. The exit status is 1 if somebody who
handed in gets no page, 2 if no zip file was written.
"""

import argparse
import sys
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from nbgrader.apps import NbGrader, ZipCollectApp
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config

from classroom.collect.choice import choose
from classroom.collect.names import Upload, read_name
from classroom.collect.whose import Owners, find_owners
from classroom.course import autograded_folder, feedback_folder, require_usual, source_notebooks
from classroom.people import roster_of
from classroom.report import listing
from classroom.roster import Roster
from classroom.ungraded import reason

WHERE = {
    "moodle": "In Moodle: Submissions of the assignment, Upload multiple feedback files in a zip",
    "canvas": "In Canvas: the assignment, Upload submissions",
}


@dataclass
class Parcel:
    """pages: the pages by their names in the zip file. owners: whose they are. left: why a student
    gets no page."""

    pages: dict[str, Path] = field(default_factory=dict)
    owners: dict[str, str] = field(default_factory=dict)
    left: dict[str, str] = field(default_factory=dict)


def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns its exit status."""
    options, nbgraders = _parser().parse_known_args(arguments)
    app = NbGrader()
    app.initialize(["--log-level=ERROR", *nbgraders])
    course, assignment = app.coursedir, options.assignment
    try:
        require_usual(course)
        roster = roster_of(course, app.config)
        owners = find_owners(_downloads(course, assignment, app.config), roster)
        parcel = pack(course, assignment, owners)
        check(parcel, owners, roster)
    except (FileNotFoundError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    path = options.output or Path(f"feedback-{assignment}.zip")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as written:
        for name, page in sorted(parcel.pages.items()):
            written.write(page, name)
    lms = {"moodle" if u.is_moodles else "canvas" for us in owners.by_student.values() for u in us}
    print(f"{len(parcel.pages)} pages: {path}", *(WHERE[name] for name in sorted(lms)), sep="\n")
    if parcel.left:
        print("", listing("No page", sorted(parcel.left.items())), sep="\n")
    return 1 if parcel.left else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m classroom.give_back",
        description="Write the feedback pages into a zip file that Moodle or Canvas takes.",
        allow_abbrev=False,
    )
    parser.add_argument("assignment", help="such as mha")
    parser.add_argument("--output", type=Path, help="default: feedback-ASSIGNMENT.zip")
    return parser


def _downloads(course: CourseDirectory, assignment: str, config: Config) -> Path:
    """Where the downloads were unpacked.

    Raises:
        FileNotFoundError: nothing was collected from an LMS.
    """
    app = ZipCollectApp(config=config)
    place = app.collect_directory_structure.format(
        downloaded=app.downloaded_directory,
        assignment_id=assignment,
        collect_step=app.extracted_directory,
    )
    folder = Path(course.root, place)
    if not folder.is_dir():
        raise FileNotFoundError(
            f"{folder} is not there, and the LMS knows pages by what it called the files there: "
            f"put its zip file into {folder.with_name(app.archive_directory)} and run "
            f"nbgrader zip_collect {assignment}"
        )
    return folder


def pack(course: CourseDirectory, assignment: str, owners: Owners) -> Parcel:
    """Find the page of everybody who handed in, and the name by which the LMS knows whose it is."""
    wanted, parcel = source_notebooks(course, assignment), Parcel()
    for student, uploads in owners.by_student.items():
        folder = feedback_folder(course, assignment, student)
        pages = sorted(folder.glob("*.html"))
        if not pages:
            why = reason(course, assignment, student)
            parcel.left[student] = why or f"there is none in {folder}"
        elif _is_older(pages, autograded_folder(course, assignment, student)):
            parcel.left[student] = (
                "the page is older than the grade: run nbgrader generate_feedback "
                f"{assignment} --force"
            )
        else:
            delivered = choose(uploads, wanted).delivered
            for page in pages:
                name = _upload_of(page, delivered, uploads).prefix + page.name
                parcel.pages[name], parcel.owners[name] = page, student
    handed_in = {folder.parent.name for folder in _all_feedback(course, assignment)}
    for student in sorted(handed_in - owners.by_student.keys()):
        parcel.left[student] = "the download has nothing of this student"
    return parcel


def _all_feedback(course: CourseDirectory, assignment: str) -> list[Path]:
    return [
        folder
        for folder in Path(course.root, course.feedback_directory).glob(f"*/{assignment}")
        if any(folder.glob("*.html"))
    ]


def _is_older(pages: list[Path], autograded: Path) -> bool:
    graded = [path.stat().st_mtime for path in autograded.glob("*.ipynb")]
    return bool(graded) and min(page.stat().st_mtime for page in pages) < max(graded)


def _upload_of(
    page: Path, delivered: Mapping[PurePosixPath, Upload], uploads: list[Upload]
) -> Upload:
    """What the LMS has of the notebook that a page is about; else the student's newest file."""
    same = delivered.get(PurePosixPath(f"{page.stem}.ipynb"))
    return same or max(uploads, key=lambda upload: upload.age)


def check(parcel: Parcel, owners: Owners, roster: Roster) -> None:
    """Read the names as the LMS will, and see that each page goes to the student it is about.

    Raises:
        ValueError: it would go to somebody else.
    """
    number = {student: {u.lms for u in uploads} for student, uploads in owners.by_student.items()}
    for name, student in parcel.owners.items():
        lms = read_name(name)
        person = roster.find(lms)
        if number[student] != {lms} or (person and person.student != student):
            raise ValueError(
                f"{name}: {student}'s page would go to number {lms}; nothing was written. "
                "Look at the roster and collect again"
            )


if __name__ == "__main__":
    sys.exit(main())
