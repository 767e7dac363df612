import os

import nbformat
import pytest
from nbformat.v4 import new_code_cell
from nbgrader.utils import compute_checksum

from attention_lab.handin.inspect import inspect
from classroom.repair import flags
from classroom.repair.flags import Notes
from classroom.repair.mend import mend, mended
from classroom.repair.released import read_released
from classroom.repair.work import Work

WRONG = "def double(x):\n    return x"
RIGHT = "def double(x):\n    return 2 * x"


@pytest.fixture
def noted(released):
    """`noted(notebook)`: the notes of what is made of a notebook."""

    def noted(notebook, *found):
        work = Work(None, notebook, inspect(notebook, released.lesson), found)
        return flags.read(mend(work, released))

    return noted


def test_what_the_reader_noted_comes_first(noted, handed_in):
    handed_in.cells[1].cell_type = "raw"
    assert noted(handed_in, "graded small (1).ipynb") == Notes(
        ["graded small (1).ipynb", "double: stood in a text cell; graded as code"]
    )


def test_what_the_checks_may_settle_is_a_doubt(noted, handed_in):
    handed_in.cells[1].source = WRONG
    handed_in.cells.append(new_code_cell(RIGHT))
    notes = noted(handed_in)
    assert notes.flags == []
    assert notes.doubts.keys() == {"double"}


def edited(cell, released):
    """The cell, as a release with another text of it would have it."""
    cell.source = "check.double(double, version=1)"
    if released:
        cell.metadata.nbgrader.checksum = compute_checksum(cell)


@pytest.mark.parametrize("by_release", [True, False])
def test_another_version_of_the_lesson_is_known_by_its_checksums(noted, handed_in, by_release):
    edited(handed_in.cells[2], by_release)
    edited(handed_in.cells[3], by_release)
    told = "comes from another version of the lesson: its test_double_shape differs"
    assert noted(handed_in).flags == [told] * by_release


def test_damaged_metadata_are_no_other_version(noted, handed_in):
    handed_in.cells[2].source = "pass"
    handed_in.cells[2].metadata.nbgrader = {"grade_id": "test_double_shape", "points": "many"}
    assert noted(handed_in) == Notes([])


def test_what_a_human_should_look_at_beside_the_cells(course, released):
    path = course.hand_in("ada", "from answers import double\nimport gc")
    folder = path.parent
    (folder / "answers.py").write_text("import ctypes")
    (folder / "given.py").write_text("import ctypes")
    course.source().with_name("given.py").write_text("import ctypes")
    (folder / ".venv" / "lib").mkdir(parents=True)
    (folder / ".venv" / "lib" / "x.py").write_text("import ctypes")
    os.mkfifo(folder / "pipe")
    assert flags.read(mended(folder, released)).remarks == [
        "mentions gc",
        "mentions ctypes in answers.py",
        "left out what lies beside it: .venv (not part of the work)",
        "left out what lies beside it: pipe (a named pipe)",
    ]


def test_the_courses_own_cells_are_no_mention(course, released):
    notebook = nbformat.read(course.source(), as_version=4)
    notebook.cells[0].source += "\nimport gc"
    nbformat.write(notebook, course.source())
    path = course.hand_in("ada")
    assert flags.read(mended(path.parent, read_released(course.source()))).remarks == []


def test_pasted_pictures_of_a_written_answer_stay(course):
    notebook = nbformat.read(course.source(), as_version=4)
    essay = nbformat.v4.new_markdown_cell("?", id="essay")
    essay.metadata.nbgrader = {"grade_id": "essay", "solution": True, "grade": True, "points": 1}
    notebook.cells.append(essay)
    nbformat.write(notebook, course.source())
    path = course.hand_in("ada")
    handed_in = nbformat.read(path, as_version=4)
    handed_in.cells[-1].attachments = {"a.png": {"image/png": "iVBORw0="}}
    nbformat.write(handed_in, path)
    kept = mended(path.parent, read_released(course.source())).cells[-1]
    assert kept.attachments == {"a.png": {"image/png": "iVBORw0="}}
