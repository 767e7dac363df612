from functools import cache
from types import SimpleNamespace

import pytest
from nbformat.v4 import new_code_cell, new_notebook
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.converters import Autograde
from nbgrader.nbgraderformat import ValidationError
from nbgrader.preprocessors import CheckCellMetadata, OverwriteCells, OverwriteKernelspec

from classroom.grading import once
from classroom.grading.exporter import GradingExporter
from classroom.register import register

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")


@pytest.fixture
def registered(course):
    register(course.directory, "small", course.config)
    return course


@pytest.fixture
def snapshot(registered):
    return once.Snapshot(registered.directory, "small", "small")


def test_snapshot_tells_what_the_gradebook_tells(registered, snapshot):
    with Gradebook(registered.directory.db_url) as gradebook:
        for name in ("double", "test_double_shape", "test_double_value"):
            cell = gradebook.find_source_cell(name, "small", "small")
            found = snapshot.find_source_cell(name, "small", "small")
            assert (found.source, found.checksum) == (cell.source, cell.checksum)
            assert (found.cell_type, found.locked) == (cell.cell_type, cell.locked)
        graded = gradebook.find_graded_cell("test_double_value", "small", "small")
        assert snapshot.find_graded_cell("test_double_value", "", "").max_score == graded.max_score


def test_snapshot_does_not_know_other_cells(snapshot):
    with pytest.raises(MissingEntry):
        snapshot.find_source_cell("other", "small", "small")
    with pytest.raises(MissingEntry):
        snapshot.find_graded_cell("double", "small", "small")


def test_snapshot_needs_no_gradebook_any_more(registered, snapshot):
    (registered.root / "gradebook.db").unlink()
    assert snapshot.find_notebook("small", "small").grade_cells[0].max_score == 1


# --- the passes, beside nbgrader's own ---


def notebook(**metadata):
    described = {"schema_version": 3, "grade_id": "test_double_value", "points": 2}
    described |= {"grade": True, "solution": False, "locked": True, "task": False, **metadata}
    return new_notebook(cells=[new_code_cell("pass", metadata={"nbgrader": described})])


@pytest.fixture
def resources(registered):
    names = {"assignment": "small", "notebook": "small", "student": "ada"}
    return {"nbgrader": names | {"db_url": registered.directory.db_url}}


@pytest.fixture
def exporter(registered):
    converter = Autograde(coursedir=registered.directory, config=registered.config)
    converter.assignments = {}
    exporter = GradingExporter(parent=converter, config=registered.config)
    snapshot = cache(lambda *names: once.Snapshot(registered.directory, *names))
    exporter.grading = SimpleNamespace(snapshot=snapshot)
    return exporter


@pytest.mark.parametrize("metadata", [{}, {"points": 5}, {"locked": False}, {"grade_id": "other"}])
def test_cells_are_overwritten_as_nbgrader_does(exporter, resources, metadata):
    ours, _ = once.OverwriteCellsOnce(parent=exporter)(notebook(**metadata), resources)
    nbgraders, _ = OverwriteCells(parent=exporter)(notebook(**metadata), resources)
    del ours.cells[0]["id"], nbgraders.cells[0]["id"]
    assert ours == nbgraders
    assert ("assert double(3) == 6" in ours.cells[0].source) == (metadata != {"grade_id": "other"})


@pytest.mark.parametrize("handed_in", [{}, {"kernelspec": {"name": "r", "display_name": "R"}}])
def test_the_kernel_is_overwritten_as_nbgrader_does(exporter, resources, handed_in):
    notebooks = [new_notebook(metadata=handed_in) for _ in range(2)]
    ours, _ = once.OverwriteKernelspecOnce(parent=exporter)(notebooks[0], resources)
    nbgraders, _ = OverwriteKernelspec(parent=exporter)(notebooks[1], resources)
    assert ours == nbgraders
    assert ours.metadata.kernelspec.name == "python3"


def test_metadata_is_checked_once_for_all_that_have_the_same(monkeypatch):
    checked = []

    def check(self, nb, resources):
        checked.append(nb)
        return nb, resources

    monkeypatch.setattr(once.CheckCellMetadataOnce, "passed", set())
    monkeypatch.setattr(CheckCellMetadata, "preprocess", check)
    for points in (2, 2, 3, 2, 3):
        once.CheckCellMetadataOnce().preprocess(notebook(points=points), {})
    assert len(checked) == 2


def test_wrong_metadata_is_refused_every_time(monkeypatch):
    monkeypatch.setattr(once.CheckCellMetadataOnce, "passed", set())
    for _ in range(2):
        with pytest.raises(ValidationError):
            once.CheckCellMetadataOnce().preprocess(notebook(grade="maybe"), {})
