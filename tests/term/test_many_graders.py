"""Four people grade one class at the same time, with the gradebook in PostgreSQL."""

import os
import subprocess
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from nbgrader.api import Gradebook
from preloaded import programs

GRADERS = 4
ANSWERS = {
    "right": ("def double(x):\n    return 2 * x", {"test_kind": 1, "test_value": 2}),
    "wrong": ("def double(x):\n    return x", {"test_kind": 1, "test_value": 0}),
    "broken": ("def double(x):\n    return", {"test_kind": 0, "test_value": 0}),
}
CELLS = (
    ("double", "def double(x):\n    raise NotImplementedError", None),
    ("test_kind", "assert isinstance(double(1), int)", 1),
    ("test_value", "assert double(3) == 6", 2),
)
CONFIG = """\
from classroom import configure
c = get_config()
configure(c)
c.Grading.workers = 1
c.CourseDirectory.db_url = {url!r}
"""


def lesson(answer=None):
    cells = [new_code_cell("import attention_lab", id="setup")]
    for grade_id, source, points in CELLS:
        graded = points is not None
        metadata = {
            "schema_version": 3, "grade_id": grade_id, "solution": not graded, "grade": graded,
            "locked": graded, "task": False, **({"points": points} if graded else {}),
        }  # fmt: skip
        text = answer if answer and not graded else source
        cells.append(new_code_cell(text, id=grade_id, metadata={"nbgrader": metadata}))
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return new_notebook(cells=cells, metadata={"kernelspec": kernel})


def make_course(root, url):
    """A course in which every grader has the same three students to grade; who they are."""
    (root / "source" / "small").mkdir(parents=True)
    nbformat.write(lesson(), root / "source" / "small" / "small.ipynb")
    (root / "nbgrader_config.py").write_text(CONFIG.format(url=url))
    for grader in range(GRADERS):
        for kind, (answer, _) in ANSWERS.items():
            folder = root / "submitted" / f"grader{grader}-{kind}" / "small"
            folder.mkdir(parents=True)
            nbformat.write(lesson(answer), folder / "small.ipynb")


def autograde(root, students):
    done = subprocess.run(
        [root / "bin" / "nbgrader", "autograde", "small", f"--student={students}"],
        cwd=root, env={**os.environ, "OMP_NUM_THREADS": "1"}, timeout=1200, check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout


def points(url):
    """Every grade there is, counted, by student: (grade id, points, whether a human is needed)."""
    found = {}
    with Gradebook(url) as gradebook:
        for submission in gradebook.assignment_submissions("small"):
            grades = [grade for notebook in submission.notebooks for grade in notebook.grades]
            found[submission.student_id] = Counter(
                (grade.name, grade.auto_score, grade.needs_manual_grade) for grade in grades
            )
    return found


@pytest.mark.filterwarnings("ignore:Object of type <Submitted:sqlalchemy.exc.SAWarning")
def test_nothing_is_lost_and_everybody_gets_what_was_earned(tmp_path, new_database):
    url = new_database()
    make_course(tmp_path, url)
    imported = ("nbgrader.apps.nbgraderapp", "classroom.config")
    with programs(tmp_path / "bin", *imported), ThreadPoolExecutor(GRADERS) as graders:
        theirs = [f"grader{number}-*" for number in range(GRADERS)]
        list(graders.map(partial(autograde, tmp_path), theirs))

    expected = {
        f"grader{number}-{kind}": Counter((name, score, False) for name, score in earned.items())
        for number in range(GRADERS)
        for kind, (_, earned) in ANSWERS.items()
    }
    assert points(url) == expected
    notebooks = {path.parts[-3] for path in tmp_path.glob("autograded/*/small/small.ipynb")}
    assert notebooks == set(expected)
