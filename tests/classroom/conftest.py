"""A small course: one assignment built on `attention_lab`, one that is not."""

import functools
import os
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
import nbgrader.api
import pytest
import sqlalchemy
from nbformat.v4 import new_code_cell, new_notebook
from nbgrader.api import Gradebook
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Application, Config

from classroom import configure, gradebook
from classroom.grading import grading
from classroom.grading.limits import Limits
from classroom.grading.pool import Pool
from classroom.register import register

STUB = "def double(x):\n    raise NotImplementedError"
RIGHT = "def double(x):\n    return 2 * x"
SEED = 7  # of the workers of all tests


@dataclass(frozen=True)
class Course:
    """A course in a temporary folder, with `source/` and whatever a test hands in.

    seeds: those of the pools that its commands asked for; where SEED was, it is the one used.
    """

    root: Path
    config: Config
    seeds: list[int] = field(default_factory=list)

    @property
    def directory(self) -> CourseDirectory:
        return CourseDirectory(config=self.config, root=str(self.root))

    def hand_in(self, student: str, answer: str = RIGHT, assignment: str = "small") -> Path:
        """Hand in the assignment with this answer; the path of the notebook."""
        notebook = nbformat.read(self.source(assignment), as_version=4)
        notebook.cells[1].source = answer
        path = self.root / "submitted" / student / assignment / f"{assignment}.ipynb"
        path.parent.mkdir(parents=True)
        nbformat.write(notebook, path)
        return path

    def source(self, assignment: str = "small") -> Path:
        return self.root / "source" / assignment / f"{assignment}.ipynb"


# nbgrader starts a program for each new gradebook to learn the same version every time.
_alembic_version = functools.cache(nbgrader.api.get_alembic_version)


@pytest.fixture(autouse=True, scope="module")
def no_engine_left():
    """Shared engines would be met by files that come later in the process."""
    yield
    assert nbgrader.api.create_engine is sqlalchemy.create_engine


@pytest.fixture
def own_engines(monkeypatch):
    """nbgrader makes its own engines again after the test: they are shared for good."""
    metadata = nbgrader.api.Base.metadata
    monkeypatch.setattr(nbgrader.api, "create_engine", sqlalchemy.create_engine)
    monkeypatch.setattr(metadata, "create_all", metadata.create_all)
    yield
    gradebook.close_connections()


@pytest.fixture(scope="session")
def workers():
    """The worker of all tests that grade in this process: to start one takes many seconds."""
    pool = Pool(1, "bubblewrap", Limits(), SEED)
    yield pool
    pool.close()


class Lent:
    """A pool that outlives the command that is given it."""

    def __init__(self, pool):
        self.size = pool.size
        self.submit = pool.submit

    def close(self):
        pass


@pytest.fixture
def course(tmp_path, monkeypatch, own_engines, request):
    monkeypatch.setenv("PATH", os.environ["PATH"])
    monkeypatch.setattr(nbgrader.api, "get_alembic_version", _alembic_version)
    monkeypatch.chdir(tmp_path)

    def pool(size, isolation, limits, seed, wait):
        course.seeds.append(seed)
        if (isolation, limits) == ("bubblewrap", Limits()):
            return Lent(request.getfixturevalue("workers"))
        return Pool(size, isolation, limits, seed, wait)

    monkeypatch.setattr(grading, "Pool", pool)
    config = Config()
    config.CourseDirectory.root = str(tmp_path)
    configure(config)
    course = Course(tmp_path, config)
    for assignment, package in (("small", "attention_lab"), ("other", "statistics")):
        path = course.source(assignment)
        path.parent.mkdir(parents=True)
        nbformat.write(_lesson(package), path)
    yield course
    Application.clear_instance()


@pytest.fixture
def book(course):
    register(course.directory, "small", course.config)
    with Gradebook(course.directory.db_url) as book:
        yield book


@pytest.fixture
def grade(book):
    """Gives a student points for the shape and the value; None leaves a cell without a grade."""

    def grade(student, shape, value, *, penalty=None, assignment="small", **names):
        book.update_or_create_student(student, **names)
        [notebook] = book.update_or_create_submission(assignment, student).notebooks
        notebook.late_submission_penalty = penalty
        for cell in notebook.grades:
            cell.auto_score = shape if cell.name.endswith("shape") else value
            cell.needs_manual_grade = cell.auto_score is None
        book.db.commit()
        return notebook

    return grade


@pytest.fixture
def two_parts(course):
    """The small assignment gets a second notebook with cells of the same names: 1 + 4 points."""
    notebook = nbformat.read(course.source(), as_version=4)
    notebook.cells[-1].metadata.nbgrader.points = 4
    nbformat.write(notebook, course.source().with_name("more.ipynb"))


def _lesson(package: str) -> nbformat.NotebookNode:
    cells = [
        new_code_cell(f"import {package}", id="setup"),
        _cell("double", STUB, solution=True),
        _cell("test_double_shape", "assert isinstance(double(1), int)", points=1),
        _cell("test_double_value", "assert double(3) == 6", points=2),
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return new_notebook(cells=cells, metadata={"kernelspec": kernel})


def _cell(grade_id: str, source: str, *, solution: bool = False, points: int | None = None):
    metadata = {
        "schema_version": 3,
        "grade_id": grade_id,
        "solution": solution,
        "grade": points is not None,
        "locked": points is not None,
        "task": False,
    }
    if points is not None:
        metadata["points"] = points
    return new_code_cell(source, id=grade_id, metadata={"nbgrader": metadata})
