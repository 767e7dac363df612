"""Submissions without a grade, each with its reason.

nbgrader passes over a folder in which it sees no notebook, and tells of a submission it gave up
in a traceback.
"""

import re
from collections.abc import Mapping
from pathlib import Path

from nbgrader.api import Gradebook, MissingEntry
from nbgrader.coursedir import CourseDirectory
from nbgrader.utils import parse_utc

from classroom.course import autograded_folder, source_folder, source_notebooks
from classroom.repair.reading import Unreadable
from classroom.repair.released import read_released
from classroom.repair.work import find_work


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
    if home.is_file():
        return f"a file, not a folder: move it to {place}"
    if re.search(r"[][*?]", student):
        return "nbgrader cannot find folders with [ ] * or ? in their names: rename it"
    if not any(path.is_file() for path in home.rglob("*")):
        return "the folder is empty"
    if not any(home.rglob("*.ipynb")):
        return "there is no notebook in it"
    here = sorted(path.name for path in (home / assignment).glob("*.ipynb"))
    if not here:
        elsewhere = min(home.rglob("*.ipynb")).relative_to(home.parent)
        return f"the notebook is in the wrong folder: move {elsewhere} to {place}"
    return _complaint_about(home / assignment, source_folder(course, assignment))


def _complaint_about(folder: Path, source: Path) -> str | None:
    stamp = folder / "timestamp.txt"
    try:
        parse_utc(stamp.read_text(encoding="utf-8")) if stamp.exists() else None
    except (ValueError, OverflowError):
        return "timestamp.txt holds no date: mend it or remove it"
    reasons = []
    for path in sorted(source.glob("*.ipynb")):
        try:
            find_work(folder, read_released(path).lesson)
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
    try:
        gradebook.find_submission(assignment, student)
    except MissingEntry:
        return False
    return autograded_folder(course, assignment, student).is_dir()


def _names_in(entry: Path) -> set[str]:
    return {child.name for child in entry.iterdir()} if entry.is_dir() else set()


def _submitted(course: CourseDirectory) -> Path:
    return Path(course.root, course.submitted_directory)
