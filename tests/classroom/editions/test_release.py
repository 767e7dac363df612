import os
from pathlib import Path

import pytest

from classroom.editions.lesson import LessonError
from classroom.editions.notebook import from_json, to_json
from classroom.editions.release import make_release
from classroom.editions.source import make_source


def release(source):
    return make_release(to_json(source), assignment="ps1", name="tiny")


@pytest.fixture
def source(lesson):
    return make_source(lesson)


@pytest.fixture
def cells(source):
    return {cell.id: cell for cell in from_json(release(source)).cells}


def test_a_stub_stands_where_the_solution_was(cells):
    assert cells["double"].source == (
        'def double(number):\n    """Twice the number."""\n'
        "    # YOUR CODE HERE\n    raise NotWrittenYet"
    )


def test_hidden_tests_are_gone_and_visible_ones_stay(cells):
    assert cells["test_double_value"].source == "assert double(2) == 4"


def test_nbgrader_locks_and_signs_the_graded_cells(cells):
    metadata = cells["test_double_value"].metadata
    assert (metadata.deletable, metadata.editable) == (False, False)
    assert metadata.nbgrader.checksum


def test_the_ids_are_the_sources(source, cells):
    assert list(cells) == [cell.id for cell in source.cells]


def test_two_builds_give_the_same_bytes(source):
    assert release(source) == release(source)


def test_leaves_no_trace_where_it_runs(source, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    release(source)
    assert os.getcwd() == str(tmp_path)
    assert list(Path().iterdir()) == []


def test_what_nbgrader_refuses_is_told(source):
    source.cells[3].source = source.cells[3].source.replace("### END SOLUTION", "")
    with pytest.raises(LessonError, match="no end solution statement found"):
        release(source)
