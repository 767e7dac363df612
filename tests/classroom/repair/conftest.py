import nbformat
import pytest

from classroom.repair.released import read_released

HIDDEN = "\n### BEGIN HIDDEN TESTS\nassert double(4) == 8\n### END HIDDEN TESTS"


@pytest.fixture
def released(course):
    """The small assignment; its last check has a hidden part, its first cell is the set-up."""
    notebook = nbformat.read(course.source(), as_version=4)
    notebook.cells[0].metadata.tags = ["setup"]
    notebook.cells[3].source += HIDDEN
    nbformat.write(notebook, course.source())
    return read_released(course.source())


@pytest.fixture
def handed_in(course, released):
    """The released notebook with a right answer."""
    return nbformat.read(course.hand_in("ada"), as_version=4)
