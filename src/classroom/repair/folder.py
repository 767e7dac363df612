"""What nbgrader takes from a student's folder, just before it takes it."""

from pathlib import Path

from nbgrader.coursedir import CourseDirectory

from classroom.course import source_folder
from classroom.repair.apart import read_submission
from classroom.repair.reading import Unreadable


def keep_worked_on(course: CourseDirectory, assignment: str, notebooks: list[str]) -> None:
    """Of several notebooks of an assignment, keep in nbgrader's list those that hold work; all,
    where none does: to read them tells the reason.
    """
    sources = source_folder(course, assignment)
    if len(notebooks) > 1:
        worked_on = [path for path in notebooks if _has_work(course, Path(path), sources)]
        notebooks[:] = worked_on or notebooks


def _has_work(course, path, sources):
    try:
        read_submission(course, path.parent, sources / path.name)
    except Unreadable:
        return False
    return True
