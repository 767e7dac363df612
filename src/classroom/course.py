"""Where a course keeps its folders, as nbgrader's `CourseDirectory` tells it."""

import os
import re
from functools import lru_cache
from pathlib import Path

import nbformat
from nbgrader.coursedir import CourseDirectory
from nbgrader.utils import is_grade
from traitlets.config import Application, Config


def running_course(config: Config) -> CourseDirectory:
    """The course that is being converted: that of the running nbgrader command, options included.

    Inside another application (formgrader runs in Jupyter's server) it is made from `config`;
    nbgrader works in the course's root while it converts.
    """
    app = Application.instance() if Application.initialized() else None
    return getattr(app, "coursedir", None) or CourseDirectory(config=config, root=os.getcwd())


def with_settings(course: CourseDirectory, **settings) -> CourseDirectory:
    """The same course with other settings, such as another gradebook."""
    same = {name: getattr(course, name) for name in course.trait_names(config=True)}
    return CourseDirectory(**(same | settings))


def source_folder(course: CourseDirectory, assignment: str) -> Path:
    return Path(course.format_path(course.source_directory, ".", assignment))


def autograded_folder(course: CourseDirectory, assignment: str, student: str) -> Path:
    return Path(course.format_path(course.autograded_directory, student, assignment))


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
        for cell in nbformat.read(folder / name, as_version=4).cells
        if is_grade(cell)
    ]


def uses_attention_lab(course: CourseDirectory, assignment: str) -> bool:
    """Whether an assignment is built on `attention_lab`: its source notebooks mention it."""
    notebooks = source_folder(course, assignment).glob("*.ipynb")
    return any(_mentions_attention_lab(path, path.stat().st_mtime_ns) for path in notebooks)


@lru_cache(maxsize=64)
def _mentions_attention_lab(path, _modified):
    return "attention_lab" in path.read_text(encoding="utf-8")
