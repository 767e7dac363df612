import pytest

from attention_lab.handin.cells import Cell, read_cells, text_of


def read(**cell):
    return read_cells({"cells": [cell]})[0]


def test_a_cell_goes_by_its_grade_id_and_both_ids():
    metadata = {"id": "colab", "nbgrader": {"grade_id": "step"}}
    cell = read(cell_type="code", source=["a\n", "b"], id="own", metadata=metadata)
    assert cell == Cell((0,), "code", "a\nb", "step", frozenset({"own", "colab"}))
    assert all(map(cell.is_called, ("step", "own", "colab")))
    assert not cell.is_called("other")


@pytest.mark.parametrize("metadata", [None, [], {"nbgrader": "yes"}, {"nbgrader": {"grade_id": 3}}])
def test_damaged_metadata_name_nothing(metadata):
    cell = read(cell_type="code", source="a", metadata=metadata, id=None)
    assert cell == Cell((0,), "code", "a")


@pytest.mark.parametrize("notebook", [{}, {"cells": None}, {"cells": "text"}])
def test_a_notebook_without_cells_has_none(notebook):
    assert read_cells(notebook) == []


def test_what_is_no_cell_is_left_out_and_counted():
    assert [c.index for c in read_cells({"cells": ["?", {"cell_type": "code"}]})] == [1]


@pytest.mark.parametrize(("source", "text"), [(["a", "b"], "ab"), ("a", "a"), (3, ""), (None, "")])
def test_text(source, text):
    assert text_of({"source": source}) == text
    assert text_of({}) == ""
