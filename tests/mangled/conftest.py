"""One class in which every student has mangled a right submission, graded in one run."""

import hashlib
import json
import logging
import os
from dataclasses import dataclass
from pathlib import Path

import nbformat
import nbgrader.api
import pytest
from manglings import ASSIGNMENT, MANGLINGS, NAME
from nbgrader.api import Base, Gradebook
from nbgrader.apps import AutogradeApp
from nbgrader.coursedir import CourseDirectory

from classroom.grade import GivenUp
from classroom.graded import flags_of
from classroom.grading import grading
from classroom.grading.pool import Pool
from classroom.sample import hand_in, read_answers
from classroom.ungraded import submitted_names, without_grade

REPOSITORY = Path(__file__).parents[2]
CONFIG = "from classroom import configure\n\nc = get_config()\nconfigure(c)\n"
HIDDEN = "### BEGIN HIDDEN TESTS"


class EachJobOnce(Pool):
    """Equal jobs give equal results: most manglings, once repaired, leave the same job."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self._known = {}

    def submit(self, job):
        if job not in self._known:
            self._known[job] = super().submit(job)
            self._known[job].cancel = lambda: False  # somebody else may wait for it
        return self._known[job]


@dataclass(frozen=True)
class Graded:
    """What became of the class. points and flags: by student. reasons: why there is no grade.
    warnings: what nbgrader logged.
    """

    root: Path
    points: dict[str, float]
    flags: dict[str, tuple[list[str], bool]]
    reasons: dict[str, str]
    warnings: list[str]


@pytest.fixture(scope="session")
def released() -> dict:
    return json.loads((REPOSITORY / "release" / ASSIGNMENT / NAME).read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def solved(released) -> dict:
    answers = (REPOSITORY / "examples" / "class" / "student-02.py").read_text(encoding="utf-8")
    return dict(hand_in(nbformat.from_dict(released), read_answers(answers)))


@pytest.fixture(scope="session")
def graded(tmp_path_factory, released, solved):
    root = tmp_path_factory.mktemp("course")
    _make_course(root)
    for mangling in MANGLINGS:
        mangling.hand_in(released, solved, root / "submitted")
    before = _contents(root / "submitted")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grading, "Pool", EachJobOnce)
        # Grading has nbgrader share its engines for good.
        patch.setattr(nbgrader.api, "create_engine", nbgrader.api.create_engine)
        patch.setattr(Base.metadata, "create_all", Base.metadata.create_all)
        patch.setenv("PATH", os.environ["PATH"])
        patch.chdir(root)
        warnings, errors = _autograde(root)
    course = CourseDirectory(root=str(root))
    with Gradebook(course.db_url) as book:
        points = {s.student.id: s.score for s in book.assignment_submissions(ASSIGNMENT)}
    reasons = without_grade(course, ASSIGNMENT, submitted_names(course, ASSIGNMENT), errors)
    flags = {name: flags_of(course, ASSIGNMENT, name) for name in points}
    assert _contents(root / "submitted") == before, "what was handed in is never changed"
    return Graded(root, points, flags, reasons, warnings)


def _make_course(root: Path) -> None:
    """A course with the lesson's visible checks: what is graded is tried here, not how well."""
    notebook = nbformat.read(REPOSITORY / "source" / ASSIGNMENT / NAME, as_version=4)
    for cell in notebook.cells:
        cell.source = cell.source.partition(HIDDEN)[0].rstrip()
    (root / "source" / ASSIGNMENT).mkdir(parents=True)
    nbformat.write(notebook, root / "source" / ASSIGNMENT / NAME)
    (root / "nbgrader_config.py").write_text(CONFIG)
    (root / "secret.txt").write_text("for the course only")


class Warned(logging.Handler):
    """Keeps what is logged as a warning or worse."""

    def __init__(self):
        super().__init__(logging.WARNING)
        self.messages = []

    def emit(self, record):
        self.messages.append(record.getMessage())


def _autograde(root):
    app = AutogradeApp.instance()
    given_up, warned = GivenUp(), Warned()
    try:
        app.initialize([ASSIGNMENT, f"--course-dir={root}"])
        app.log.handlers = [given_up, warned]
        with pytest.raises(SystemExit):
            app.start()
    finally:
        app.close_handlers()
        AutogradeApp.clear_instance()
    return warned.messages, given_up.errors


def _contents(folder):
    """Every file below a folder, by what it holds or links to."""
    return {
        path: os.readlink(path) if path.is_symlink() else hashlib.md5(path.read_bytes()).digest()
        for path in folder.rglob("*")
        if path.is_symlink() or path.is_file()
    }
