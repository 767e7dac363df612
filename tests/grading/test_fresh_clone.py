"""A fresh clone grades with nbgrader's own command, from an environment that is not activated."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook

from classroom.sample import hand_in, read_answers

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture
def clone(tmp_path):
    if shutil.which("git") is None:
        pytest.fail("this test needs git: install it")
    root = tmp_path / "clone"
    subprocess.run(["git", "clone", "--quiet", REPOSITORY, root], check=True)
    return root


def submit(clone, student):
    """Hand in the answers of one of the sample class."""
    released = nbformat.read(clone / "release" / "mha" / "multi_head_attention.ipynb", as_version=4)
    answers = clone / "examples" / "class" / f"{student}.py"
    notebook = hand_in(released, read_answers(answers.read_text(encoding="utf-8")))
    folder = clone / "submitted" / student / "mha"
    folder.mkdir(parents=True)
    nbformat.write(notebook, folder / "multi_head_attention.ipynb")
    return folder


def nbgrader(clone, *arguments):
    environment = {
        **os.environ,
        "PATH": os.defpath,
        "PYTHONPATH": str(clone / "src"),
        "OMP_NUM_THREADS": "1",
    }
    subprocess.run(
        [sys.executable, "-m", "nbgrader", *arguments], cwd=clone, env=environment, check=True
    )


def test_autograde_and_feedback(clone):
    submit(clone, "student-02")
    forged = submit(clone, "student-12") / "attention_lab"
    forged.mkdir()
    (forged / "__init__.py").write_text(
        "class Easy:\n    def __getattr__(self, name):\n        return lambda *a, **k: None\n"
        "check = example = Easy()\nshow_heads = NotWrittenYet = print\n"
    )

    nbgrader(clone, "autograde", "mha")
    nbgrader(clone, "generate_feedback", "mha")

    with Gradebook(f"sqlite:///{clone / 'gradebook.db'}") as book:
        assert book.find_submission("mha", "student-02").score == 24
        assert book.find_submission("mha", "student-12").score == 0, "a submitted package counted"
    for student in ("student-02", "student-12"):
        assert list((clone / "feedback" / student / "mha").glob("*.html"))
    assert (forged / "__init__.py").exists(), "what was handed in is never changed"
    status = ["git", "-C", clone, "status", "--porcelain"]
    assert subprocess.check_output(status, text=True) == ""
