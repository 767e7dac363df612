"""Where a course keeps its folders, as nbgrader's `CourseDirectory` tells it."""

import json
import logging
import re
from functools import lru_cache
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbgrader.coursedir import CourseDirectory
from nbgrader.utils import is_grade

from attention_lab.handin import code
from attention_lab.handin.cells import read_cells

PACKAGE = "attention_lab"
STRUCTURE = CourseDirectory.directory_structure.default_value
ODD = re.compile(r"[][*?{}%]")  # nbgrader's patterns, formats and addresses
PLAIN = re.compile(r"[\w ./-]+")
DIRECTORIES = ("source", "release", "submitted", "autograded", "feedback")
log = logging.getLogger(__name__)


class UnusualCourse(ValueError):
    """A course in which nbgrader, or what stands on it, would not find its files."""


def with_settings(course: CourseDirectory, **settings) -> CourseDirectory:
    """The same course with other settings, such as another gradebook."""
    same = {name: getattr(course, name) for name in course.trait_names(config=True)}
    return CourseDirectory(config=course.config, **(same | settings))


def source_folder(course: CourseDirectory, assignment: str) -> Path:
    return Path(course.format_path(course.source_directory, ".", assignment))


def autograded_folder(course: CourseDirectory, assignment: str, student: str) -> Path:
    return Path(course.format_path(course.autograded_directory, student, assignment))


def feedback_folder(course: CourseDirectory, assignment: str, student: str) -> Path:
    return Path(course.format_path(course.feedback_directory, student, assignment))


def submitted_folder(course: CourseDirectory, assignment: str, student: str) -> Path:
    return Path(course.format_path(course.submitted_directory, student, assignment))


def submission_of(course: CourseDirectory, notebook: str | Path) -> tuple[str, str]:
    """(assignment, student) to which a notebook below the submitted folder belongs.

    Raises:
        ValueError: the path is not that of a submission of this course.
    """
    pattern = course.format_path(
        course.submitted_directory, "(?P<student>[^/]+)", "(?P<assignment>[^/]+)", escape=True
    )
    match = re.match(pattern, str(notebook))
    if match is None:
        raise ValueError(f"{notebook} is not in a folder like {pattern}")
    return match["assignment"], match["student"]


def source_notebooks(course: CourseDirectory, assignment: str) -> list[str]:
    """The file names of an assignment's notebooks."""
    return sorted(path.name for path in source_folder(course, assignment).glob("*.ipynb"))


def graded_cells(course: CourseDirectory, assignment: str) -> list[tuple[str, str]]:
    """Notebook and grade id of an assignment's graded cells, in the order of its notebooks."""
    folder = source_folder(course, assignment)
    return [
        (Path(name).stem, cell.metadata.nbgrader.grade_id)
        for name in source_notebooks(course, assignment)
        for cell in read_source(folder / name).cells
        if is_grade(cell)
    ]


def read_source(path: Path) -> NotebookNode:
    """A notebook of the course's own; cells of an older format, which have no id, are given one.

    Raises:
        ValueError: the file is not a notebook; the message names it.
    """
    try:
        notebook = nbformat.read(path, as_version=4)
    except Exception as error:  # nbformat raises whatever damaged JSON brings about
        raise ValueError(f"{path} cannot be read: {error}") from error
    for index, cell in enumerate(notebook.cells):
        cell.setdefault("id", f"cell-{index}")
    return notebook


def uses_attention_lab(course: CourseDirectory, assignment: str) -> bool:
    """Whether an assignment is built on `attention_lab`: code of its source imports it."""
    notebooks = source_folder(course, assignment).glob("*.ipynb")
    return any(_imports_package(path, path.stat().st_mtime_ns) for path in sorted(notebooks))


@lru_cache(maxsize=256)
def _imports_package(path, _modified):
    content = path.read_bytes()
    try:
        return imports_package(json.loads(content))
    except (ValueError, RecursionError) as error:
        log.warning("%s cannot be read as a notebook: %s", path, error)
        # In doubt, what is handed in runs in the sandbox.
        return code.seems_to_import(content.decode(errors="replace"), PACKAGE)


def imports_package(notebook: dict) -> bool:
    """Whether code of a notebook imports `attention_lab`, whatever its text says of it.

    Raises:
        ValueError: it is not JSON of nbformat 4.
    """
    if not isinstance(notebook, dict) or not isinstance(notebook.get("cells"), list):
        raise ValueError("it has no cells")
    return any(
        cell.kind == "code" and code.imports(cell.source, PACKAGE) for cell in read_cells(notebook)
    )


def require_usual(course: CourseDirectory) -> None:
    """Raises UnusualCourse, with what to do, before anything is done in such a course."""
    if complaint := _unusual(course):
        raise UnusualCourse(complaint)


def _unusual(course: CourseDirectory) -> str | None:
    if found := ODD.search(course.root):
        return (
            f"nbgrader cannot work in a folder with {found[0]} in its path: {course.root}. "
            "Rename it, or move the course. Nothing was done."
        )
    if course.directory_structure != STRUCTURE:
        return (
            f"c.CourseDirectory.directory_structure is {course.directory_structure!r}; this "
            f"course's commands know {STRUCTURE!r} only. Nothing was done."
        )
    for step in DIRECTORIES:
        name = getattr(course, f"{step}_directory")
        if not PLAIN.fullmatch(name):
            return (
                f"c.CourseDirectory.{step}_directory is {name!r}: use letters, digits, blanks and "
                "./-_ only. Nothing was done."
            )
    return None
