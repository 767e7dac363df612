import nbformat
import pytest
from nbconvert.exporters import NotebookExporter
from nbformat.v4 import new_code_cell, new_output
from nbgrader.converters import Autograde
from nbgrader.utils import compute_checksum

from classroom.grading.record import Record
from classroom.repair import flags
from classroom.repair.passes import Repair, SettleDoubts

WRONG = "def double(x):\n    return x"
RIGHT = "def double(x):\n    return 2 * x"


@pytest.fixture
def run(course, released):
    exporter = NotebookExporter(
        parent=Autograde(coursedir=course.directory, config=course.config), config=course.config
    )

    def run(kind, notebook, assignment="small"):
        resources = {"nbgrader": {"assignment": assignment, "notebook": "small"}}
        return kind(parent=exporter)(notebook, resources)[0]

    return run


def test_what_the_reader_noted_comes_first(run, handed_in):
    flags.write(handed_in, ["graded small (1).ipynb"], {})
    handed_in.cells[1].cell_type = "raw"
    assert flags.read(run(Repair, handed_in)) == (
        ["graded small (1).ipynb", "double: stood in a text cell; graded as code"],
        {},
    )


def test_repairing_twice_changes_nothing(run, handed_in):
    handed_in.cells.append(new_code_cell("1 / 0"))
    once = run(Repair, handed_in)
    assert run(Repair, once) == once


def edited(cell, released):
    """The cell, as a release with another text of it would have it."""
    cell.source = "check.double(double, version=1)"
    if released:
        cell.metadata.nbgrader.checksum = compute_checksum(cell)


@pytest.mark.parametrize("by_release", [True, False])
def test_another_version_of_the_lesson_is_known_by_its_checksums(run, handed_in, by_release):
    edited(handed_in.cells[2], by_release)
    edited(handed_in.cells[3], by_release)
    found, _ = flags.read(run(Repair, handed_in))
    told = "comes from another version of the lesson: its test_double_shape differs"
    assert found == [told] * by_release


def test_damaged_metadata_are_no_other_version(run, handed_in):
    handed_in.cells[2].source = "pass"
    handed_in.cells[2].metadata.nbgrader = {"grade_id": "test_double_shape", "points": "many"}
    assert flags.read(run(Repair, handed_in)) == ([], {})


@pytest.mark.parametrize("fails", [True, False])
def test_a_doubt_counts_if_points_are_lost(run, handed_in, fails):
    handed_in.cells[1].source = WRONG
    handed_in.cells.append(new_code_cell(RIGHT))
    notebook = run(Repair, handed_in)
    assert flags.read(notebook)[0] == []
    Record(finished=True, flags=["mentions gc"]).write(notebook)
    if fails:
        notebook.cells[3].outputs = [new_output("error", ename="E", evalue="", traceback=[])]
    settled = run(SettleDoubts, notebook)
    doubt = "double: lost points, and a cell further down has another answer"
    assert flags.read(settled) == ([doubt] * fails, {})
    assert Record.read(settled).flags == [doubt] * fails + ["mentions gc"]
    nbformat.validate(settled)
