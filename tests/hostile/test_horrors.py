"""Every command of the course that walks over submissions, on a class of horrors: whatever fails is
that student's line, with its reason, and everybody else's goes on."""

import json
import os
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path

import nbformat
import pytest
from horrors import HORRORS, NAME
from nbformat.v4 import new_code_cell, new_notebook
from nbgrader.api import Gradebook
from traitlets.config import Config

from classroom import configure
from classroom.rendering import ByHandExporter

CONFIG = """
from classroom import configure
c = get_config()
configure(c)
c.Reading.seconds = 3
c.Reading.memory_mib = 256
c.Grading.workers = 1
c.Grading.cell_seconds = 20
"""
HONEST = ("aaa", "zzz")  # who comes before all, and after
TWO_LINES = "b\nc"
SHOWS = "print('shown')"


@dataclass(frozen=True)
class Course:
    root: Path

    def run(self, *command: str) -> subprocess.CompletedProcess:
        """Run a command as a teaching assistant does, in a terminal that knows UTF-8."""
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONIOENCODING": "utf-8:strict"}
        return subprocess.run(
            [sys.executable, "-m", *command], cwd=self.root, env=environment, capture_output=True,
            text=True, errors="surrogateescape", timeout=900,
        )  # fmt: skip

    @property
    def points(self) -> dict[str, float]:
        with Gradebook(f"sqlite:///{self.root}/gradebook.db") as book:
            graded = {s.student.id: s.score for s in book.assignment_submissions("small")}
        return {s: p for s, p in graded.items() if (self.root / "autograded" / s).exists()}


def lesson():
    def cell(name, source, points=None):
        own = {"schema_version": 3, "grade_id": name, "solution": points is None, "task": False}
        own |= {"grade": points is not None, "locked": points is not None}
        own |= {"points": points} if points else {}
        return new_code_cell(source, id=name, metadata={"nbgrader": own})

    cells = [
        new_code_cell("import attention_lab", id="setup", metadata={"tags": ["setup"]}),
        cell("double", "def double(x):\n    return 2 * x"),
        cell("test_double_value", "assert double(3) == 6", 2),
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return new_notebook(cells=cells, metadata={"kernelspec": kernel})


def make_course(root: Path) -> Course:
    (root / "source" / "small").mkdir(parents=True)
    (root / "release" / "small").mkdir(parents=True)
    (root / "nbgrader_config.py").write_text(CONFIG)
    for step in ("source", "release"):
        nbformat.write(lesson(), root / step / "small" / NAME)
    return Course(root)


def hand_in(submitted: Path) -> None:
    """Everybody's folder: of the honest, of a name with two lines, and a horror each."""
    students = [*HONEST, TWO_LINES, os.fsdecode(b"caf\xe9"), *(horror.name for horror in HORRORS)]
    for student in students:
        folder = submitted / student / "small"
        folder.mkdir(parents=True)
        nbformat.write(lesson(), folder / NAME)
    for horror in HORRORS:
        horror.plant(submitted / horror.name / "small")


@pytest.fixture(scope="module")
def autograded(tmp_path_factory):
    course = make_course(tmp_path_factory.mktemp("course"))
    hand_in(course.root / "submitted")
    return course, course.run("nbgrader", "autograde", "small")


@pytest.fixture
def course(autograded):
    return autograded[0]


EXPECTED = {horror.name for horror in HORRORS if horror.graded} | set(HONEST)
NOT_GRADED = {horror.name for horror in HORRORS if not horror.graded}


def assert_all_is_said(ran, *names):
    told = ran.stdout + ran.stderr
    assert [name for name in names if name not in told] == [], told[-5000:]
    assert "\x1b[31m" not in told, "a name steers the terminal"


def test_there_are_enough_of_them():
    assert len(HORRORS) >= 20


def test_autograde(autograded):
    course, ran = autograded
    assert course.points == dict.fromkeys(EXPECTED, 2.0), ran.stderr[-5000:]
    assert ran.returncode == 1
    assert_all_is_said(ran, *NOT_GRADED, "No grade for b")


def test_generate_feedback(course):
    ran = course.run("nbgrader", "generate_feedback", "small", "--force")
    pages = {path.parts[-3] for path in course.root.glob("feedback/*/small/small.html")}
    assert pages == EXPECTED, ran.stderr[-5000:]
    assert ran.returncode == 0


def test_grade(course):
    ran = course.run("classroom.grade")
    assert ran.returncode == 1, ran.stderr[-5000:]
    assert_all_is_said(ran, *NOT_GRADED, *HONEST, "No grade")
    lines = ran.stdout.splitlines()
    assert all(any(name[:19] in line and ":" in line for line in lines) for name in NOT_GRADED)


def test_class_report(course):
    ran = course.run("classroom.class_report", "small", "--names")
    assert ran.returncode == 0, ran.stderr[-5000:]
    page = (course.root / "class-report-small.html").read_text(encoding="utf-8")
    assert [name for name in NOT_GRADED if name not in page] == []


@pytest.mark.parametrize("kind", ["Canvas", "Moodle", "Steps"])
def test_export(course, kind):
    ran = course.run("nbgrader", "export", f"--exporter=classroom.export.{kind}Exporter")
    assert ran.returncode == 0, ran.stderr[-5000:]
    table = (course.root / f"{kind.lower()}.csv").read_text(encoding="utf-8-sig")
    assert [name for name in (*HONEST, *EXPECTED) if name not in table] == []
    assert_all_is_said(ran, *NOT_GRADED)


def test_regrade(course):
    ran = course.run("classroom.regrade", "small")
    assert ran.returncode == 0, ran.stderr[-5000:]
    assert f"{len(EXPECTED)} submissions graded again" in ran.stdout


@pytest.mark.parametrize("student", sorted(EXPECTED))
def test_the_page_on_which_is_graded_by_hand(course, student):
    config = Config()
    configure(config)
    config.HTMLExporter.template_name = "formgrade"
    config.Reading.seconds = 3
    config.Reading.memory_mib = 256
    resources = {"submission_id": "1", "base_url": "", "index": 0, "total": 1, "student": student}
    path = course.root / "autograded" / student / "small" / NAME
    page, _ = ByHandExporter(config=config).from_filename(str(path), resources=resources)
    assert 'id="test_double_value"' in page


def test_zip_collect(tmp_path):
    course = make_course(tmp_path / "course")
    hand_in(tmp_path / "packed")
    archive = course.root / "downloaded" / "small" / "archive"
    archive.mkdir(parents=True)
    students = [*HONEST, *(horror.name for horror in HORRORS)]
    for number, student in enumerate(students, start=1):
        name = f"{student}_{number}_assignsubmission_file_homework.tar"
        with tarfile.open(archive / name, "w") as packed:
            packed.add(tmp_path / "packed" / student / "small", "small")
    ran = course.run("nbgrader", "zip_collect", "small")
    assert ran.returncode == 0, ran.stderr[-5000:]
    collected = {path.parts[-3] for path in course.root.glob("submitted/*/small/*.ipynb")}
    numbers = {str(n) for n, student in enumerate(students, start=1) if student in EXPECTED}
    assert numbers <= collected
    assert "\x1b[31m" not in ran.stdout + ran.stderr
    notebook = course.root / "submitted" / "1" / "small" / NAME
    assert json.loads(notebook.read_text())["cells"]
