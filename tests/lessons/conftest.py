"""The lesson as text, and as it runs with its solutions in place."""

import contextlib
import io
from pathlib import Path

import pytest

from classroom.editions.lesson import read_lesson

LESSONS = Path(__file__).parents[2] / "lessons"


@pytest.fixture(scope="session")
def lesson():
    return read_lesson(LESSONS / "multi_head_attention.py")


@pytest.fixture(scope="session")
def cells(lesson):
    """Every cell by its id."""
    return {cell.id: cell for cell in lesson.cells}


@pytest.fixture(scope="session")
def prose(lesson):
    """The source of every prose cell by its id."""
    return {cell.id: cell.source for cell in lesson.cells if cell.cell_type == "markdown"}


@pytest.fixture(scope="session")
def run(lesson):
    """(names, printed): what the lesson's code defines, and what each cell prints, by its id."""
    names, printed = {"__name__": "lesson"}, {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NBGRADER_EXECUTION", "autograde")
        for cell in lesson.cells:
            if cell.cell_type == "code" and not cell.id.startswith("test_"):
                out = io.StringIO()
                with contextlib.redirect_stdout(out):
                    exec(compile(cell.source, cell.id, "exec"), names)
                printed[cell.id] = out.getvalue()
    return names, printed


@pytest.fixture(scope="session")
def names(run):
    return run[0]


@pytest.fixture(scope="session")
def printed(run):
    return run[1]
