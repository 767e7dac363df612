"""Submissions without a grade, each with its reason.

nbgrader passes over a folder in which it sees no notebook, and tells of a submission it gave up
in a traceback.
"""

import re
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from nbgrader.api import Gradebook, MissingEntry
from nbgrader.coursedir import CourseDirectory
from nbgrader.utils import parse_utc

from classroom.course import autograded_folder, source_folder, source_notebooks
from classroom.files import files_in
from classroom.repair.apart import read_submission
from classroom.repair.reading import Unreadable
from classroom.repair.work import is_notebook, notebooks_in

UNUSABLE = re.compile(r"[][*?\n\ud800-\udfff]")  # patterns, a second line, no letters at all
LONGEST_TIME = 100  # characters


def submitted_names(course: CourseDirectory, assignment: str) -> list[str]:
    """What lies in the submitted folder, a student each, and may be meant for an assignment.

    A student who handed in other assignments of the course and nothing else is left out.
    """
    others = {folder.name for folder in source_folder(course, "").iterdir()} - {assignment}
    return sorted(
        entry.name
        for entry in _submitted(course).glob("[!.]*")
        if not (inside := _names_in(entry)) or inside - others
    )


def without_grade(
    course: CourseDirectory,
    assignment: str,
    students: list[str],
    errors: Mapping[str, BaseException],
) -> dict[str, str]:
    """The reason for each of the students whose submission has no grade.

    `errors` are those nbgrader met while grading, by student.
    """
    with Gradebook(course.db_url, course.course_id) as gradebook:
        return {
            student: reason(course, assignment, student) or in_words(errors.get(student))
            for student in students
            if not _is_graded(gradebook, course, assignment, student)
        }


def reason(course: CourseDirectory, assignment: str, student: str) -> str | None:
    """What is wrong with a submission that can be seen from its files, and what to do about it."""
    home = _submitted(course) / student
    wanted = source_notebooks(course, assignment)
    place = f"{student}/{assignment}/{wanted[0]}"
    if not home.exists():
        return "its folder is gone"
    if not home.is_dir():
        return f"a file, not a folder: move it to {place}"
    if not is_usable(student):
        return "nbgrader cannot take a folder with such signs in its name: rename it"
    if notebooks_in(home / assignment):
        return _complaint_about(course, home / assignment, source_folder(course, assignment))
    found = files_in(home)
    if not found.files:
        return f"it holds {found.left_out[0]}" if found.left_out else "the folder is empty"
    notebooks = list(filter(is_notebook, found.files))
    if not notebooks:
        return "there is no notebook in it"
    if not any(path.is_relative_to(home / assignment) for path in notebooks):
        elsewhere = min(notebooks).relative_to(home.parent)
        return f"the notebook is in the wrong folder: move {elsewhere} to {place}"
    return _complaint_about(course, home / assignment, source_folder(course, assignment))


def is_usable(student: str) -> bool:
    """Whether nbgrader can take, and find again, a student's folder of this name."""
    return not UNUSABLE.search(student)


def timestamp(folder: str | Path) -> datetime | None:
    """When a submission was handed in, by its timestamp.txt: a file that a stranger may have made.

    Raises:
        ValueError: it holds no time; the message says what to do.
    """
    path = Path(folder, "timestamp.txt")
    if path.is_symlink() or not path.is_file():
        return None
    with path.open(encoding="utf-8", errors="replace") as file:
        text = file.read(LONGEST_TIME).strip()
    try:
        return parse_utc(text) if text else None
    except (ValueError, OverflowError):
        raise ValueError("timestamp.txt holds no date: mend it or remove it") from None


def _complaint_about(course: CourseDirectory, folder: Path, source: Path) -> str | None:
    try:
        timestamp(folder)
    except ValueError as error:
        return str(error)
    reasons = []
    for path in sorted(source.glob("*.ipynb")):
        try:
            read_submission(course, folder, path)
        except Unreadable as error:
            reasons.append(str(error))
        else:
            return None
    return "; ".join(dict.fromkeys(reasons))


def in_words(error: BaseException | None) -> str:
    """Why nbgrader gave up a submission, in one line; None stands for one it has not met."""
    if error is None:
        return "not graded yet"
    return f"{type(error).__name__}: {error}".splitlines()[0]


def _is_graded(
    gradebook: Gradebook, course: CourseDirectory, assignment: str, student: str
) -> bool:
    """nbgrader removes the autograded folder of a submission it gave up, not its entry."""
    if not is_usable(student):
        return False
    try:
        gradebook.find_submission(assignment, student)
    except MissingEntry:
        return False
    return autograded_folder(course, assignment, student).is_dir()


def _names_in(entry: Path) -> set[str]:
    return {child.name for child in entry.iterdir()} if entry.is_dir() else set()


def _submitted(course: CourseDirectory) -> Path:
    return Path(course.root, course.submitted_directory)
