import nbformat
import pytest
from nbconvert.exporters import NotebookExporter
from nbformat.v4 import new_output
from nbgrader.converters import Autograde

from classroom.grading.record import Record
from classroom.repair import flags
from classroom.repair.flags import Notes
from classroom.repair.passes import SettleDoubts

DOUBT = "double: lost points, and a cell further down has another answer"


@pytest.mark.parametrize("fails", [True, False])
def test_a_doubt_counts_if_points_are_lost(course, handed_in, fails):
    exporter = NotebookExporter(
        parent=Autograde(coursedir=course.directory, config=course.config), config=course.config
    )
    flags.write(handed_in, Notes(["a guess"], {"double": DOUBT}, ["mentions gc"]))
    Record(finished=True, flags=["changed its host's limits"]).write(handed_in)
    if fails:
        handed_in.cells[3].outputs = [new_output("error", ename="E", evalue="", traceback=[])]
    resources = {"nbgrader": {"assignment": "small", "notebook": "small"}}
    settled, _ = SettleDoubts(parent=exporter)(handed_in, resources)
    found = ["a guess", *[DOUBT] * fails]
    assert flags.read(settled) == Notes(found, {}, ["mentions gc"])
    assert Record.read(settled).flags == [*found, "mentions gc", "changed its host's limits"]
    nbformat.validate(settled)
