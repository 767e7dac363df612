"""A fresh clone grades the sample class by `make grade`, and a class by nbgrader's own commands."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

REPOSITORY = Path(__file__).parents[2]

STEPS = (
    "project",
    "split_heads",
    "attention_scores",
    "causal_mask",
    "masked_softmax",
    "attend",
    "merge_heads",
    "MultiHeadAttention",
)
TRANSFER = ("fault", "MendedAttention")  # for their value alone

# Points for shape and value, in the order of STEPS, then those of TRANSFER.
POSSIBLE = "1+1 1+2 1+2 1+2 1+2 1+1 1+2 1+4 1 1"
EXPECTED = {
    "student-01": "1+1 1+2 1+2 1+2 1+2 1+1 1+2 1+4 1 1",
    "student-02": "1+1 1+2 1+2 1+2 1+2 1+1 1+2 1+4 1 1",
    "student-03": "1+1 1+2 1+2 1+2 1+2 1+1 1+2 1+4 1 1",
    "student-04": "1+1 1+2 1+2 1+2 1+2 1+1 1+2 1+4 1 1",
    "student-05": "1+1 1+2 1+2 1+2 0+0 0+0 0+0 0+0 0 0",
    "student-06": "1+1 1+0 1+2 1+2 1+2 1+1 1+0 1+4 0 1",
    "student-07": "1+1 1+2 1+0 1+2 1+0 1+0 1+2 1+4 1 0",
    "student-08": "1+1 1+2 1+2 1+0 1+0 1+1 1+2 1+0 1 0",
    "student-09": "1+1 1+0 1+2 1+2 1+2 1+0 1+2 1+0 0 0",
    "student-10": "1+0 1+2 1+2 1+0 1+0 1+1 1+2 1+4 0 0",
    "student-11": "0+0 0+0 0+0 0+0 0+0 0+0 0+0 0+0 0 0",
    "student-12": "0+0 0+0 0+0 0+0 0+0 0+0 0+0 0+0 0 0",
}


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """A fresh clone that uses this environment, not activated, instead of making its own."""
    if shutil.which("git") is None:
        pytest.fail("this test needs git: install it")
    root = tmp_path_factory.mktemp("fresh") / "clone"
    subprocess.run(["git", "clone", "--quiet", REPOSITORY, root], check=True)
    (root / ".venv" / "bin").mkdir(parents=True)
    for program, module in {"attention-lab": "classroom.command", "nbgrader": "nbgrader"}.items():
        script = root / ".venv" / "bin" / program
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m {module} "$@"\n')
        script.chmod(0o755)
    return root


def run(clone, *command):
    """Run a command of README.md in the clone."""
    environment = {
        **os.environ,
        "PATH": os.defpath,
        "PYTHONPATH": str(clone / "src"),
        "OMP_NUM_THREADS": "1",
    }
    return subprocess.run(command, cwd=clone, env=environment, capture_output=True, text=True)


@pytest.fixture(scope="module")
def graded(clone):
    """What `make grade` does in a fresh clone: (the course that was graded, the process)."""
    process = run(clone, "make", "grade", "--assume-old=.venv/.ta")
    return clone / "examples" / "class" / "course", process


@pytest.fixture(scope="module")
def points(graded):
    """Points by student, step and aspect."""
    course, process = graded
    assert process.returncode == 0, process.stdout + process.stderr
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as book:
        return {
            submission.student.id: {
                grade.name: grade.auto_score
                for notebook in submission.notebooks
                for grade in notebook.grades
            }
            for submission in book.assignment_submissions("mha")
        }


def in_order(points):
    steps = [f"{points[f'test_{step}_shape']:g}+{points[f'test_{step}_value']:g}" for step in STEPS]
    return " ".join([*steps, *(f"{points[f'test_{name}_value']:g}" for name in TRANSFER)])


def test_everybody_gets_the_points_that_were_earned(points):
    assert {student: in_order(earned) for student, earned in points.items()} == EXPECTED


def test_the_points_that_can_be_had(graded):
    course, _ = graded
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as book:
        [notebook] = book.find_assignment("mha").notebooks
        possible = {cell.name: cell.max_score for cell in notebook.grade_cells}
    assert in_order(possible) == POSSIBLE
    assert sum(possible.values()) == 26


def test_the_table_tells_everybodys_total(graded):
    _, process = graded
    rows = [line.split() for line in process.stdout.splitlines() if line.startswith("student-")]
    assert {row[0]: int(row[-1].lstrip("!")) for row in rows} == {
        student: sum(map(int, points.replace("+", " ").split()))
        for student, points in EXPECTED.items()
    }
    assert max(map(len, process.stdout.splitlines())) <= 100


def test_everybody_gets_feedback(graded):
    course, _ = graded
    for student in EXPECTED:
        page = course / "feedback" / student / "mha" / "multi_head_attention.html"
        assert "Score: " in page.read_text(encoding="utf-8")


def test_one_mistake_costs_one_step(points):
    """The classes of these three call steps of their own that are wrong."""
    for student in ("student-06", "student-07", "student-10"):
        assert points[student]["test_MultiHeadAttention_value"] == 4


def test_nbgraders_own_commands_follow(graded, clone):
    course, _ = graded
    for student in ("student-02", "student-12"):
        handed_in = shutil.copytree(course / "submitted" / student, clone / "submitted" / student)
    forged = handed_in / "mha" / "attention_lab"
    forged.mkdir()
    (forged / "__init__.py").write_text(
        "class Easy:\n    def __getattr__(self, name):\n        return lambda *a, **k: None\n"
        "check = example = Easy()\nshow_heads = NotWrittenYet = print\n"
    )

    for command in ("autograde", "generate_feedback"):
        done = run(clone, ".venv/bin/nbgrader", command, "mha")
        assert done.returncode == 0, done.stderr

    with Gradebook(f"sqlite:///{clone / 'gradebook.db'}") as book:
        assert book.find_submission("mha", "student-02").score == 26
        assert book.find_submission("mha", "student-12").score == 0, "a submitted package counted"
    for student in ("student-02", "student-12"):
        assert list((clone / "feedback" / student / "mha").glob("*.html"))
    assert (forged / "__init__.py").exists(), "what was handed in is never changed"
    status = ["git", "-C", clone, "status", "--porcelain"]
    assert subprocess.check_output(status, text=True) == ""
