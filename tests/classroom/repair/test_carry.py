import copy

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell

from attention_lab.handin.inspect import inspect
from classroom.repair.carry import MISSING, SHARED, carry

ANSWER = "def double(x):\n    return 2 * x"
STUB = "def double(x):\n    raise NotImplementedError"
LESSON = ["setup", "double", "test_double_shape", "test_double_value"]


@pytest.fixture
def carried(released):
    """`carried(notebook)`: its cells, carried into the lesson, which then can be graded."""

    def carried(notebook):
        before = copy.deepcopy(notebook)
        after = carry(notebook, inspect(notebook, released.lesson), released)
        assert notebook == before
        nbformat.validate(after)
        assert len({cell.id for cell in after.cells}) == len(after.cells)
        graded = {cell.id: cell for cell in after.cells if "nbgrader" in cell.metadata}
        assert sorted(graded) == sorted(LESSON[1:])
        for name in ("test_double_shape", "test_double_value"):
            assert graded[name] == released.cells[name]
        return after.cells

    return carried


def ids(cells):
    return [cell.id for cell in cells]


def test_a_whole_notebook_comes_out_with_the_courses_own_checks(carried, handed_in):
    cells = carried(handed_in)
    assert ids(cells) == LESSON
    assert cells[1].source == ANSWER


def test_cells_of_the_learners_own_stay_where_they_are(carried, handed_in):
    handed_in.cells.insert(3, new_markdown_cell("my notes", id="notes"))
    handed_in.cells.insert(2, new_code_cell("double(3)", id="try"))
    assert ids(carried(handed_in)) == [*LESSON[:2], "try", LESSON[2], "notes", LESSON[3]]


def test_missing_checks_are_put_behind_what_stands_above_them(carried, handed_in):
    handed_in.cells = [handed_in.cells[0], handed_in.cells[1], new_code_cell("1 / 0", id="own")]
    assert ids(carried(handed_in)) == [*LESSON, "own"]


def test_a_missing_setup_comes_before_all_code(carried, handed_in):
    handed_in.cells[0] = new_markdown_cell("# Hello", id="title")
    assert ids(carried(handed_in)) == ["title", *LESSON]


def test_a_changed_setup_runs_behind_the_courses_own(carried, handed_in, released):
    handed_in.cells[0].source = "import einops"
    cells = carried(handed_in)
    assert cells[0] == released.cells["setup"]
    assert cells[1].source == "import einops"
    assert ids(cells)[2:] == LESSON[1:]


def test_checks_stand_behind_an_answer_that_comes_later(carried, handed_in):
    """And behind what follows it: it may be a helper."""
    answer = new_code_cell(ANSWER, id="mine")
    handed_in.cells[1].source = STUB
    handed_in.cells += [answer, new_code_cell("def helper(): ...", id="helper")]
    cells = carried(handed_in)
    assert ids(cells)[2:] == ["double", "helper", "test_double_shape", "test_double_value"]
    assert cells[2].source == ANSWER
    assert cells[1].cell_type == "markdown", "the stub would take the answer's place"


def test_a_missing_answer_leaves_its_place(carried, handed_in):
    del handed_in.cells[1]
    cells = carried(handed_in)
    assert sorted(ids(cells)) == sorted(LESSON)
    assert next(cell for cell in cells if cell.id == "double").source == MISSING


def test_an_answer_in_a_check_is_run_before_it(carried, handed_in):
    handed_in.cells[3].source = ANSWER + "\n" + handed_in.cells[3].source
    handed_in.cells[1].source = STUB
    cells = carried(handed_in)
    own = next(index for index, cell in enumerate(cells) if cell.source.startswith(ANSWER))
    assert own < ids(cells).index("test_double_shape")
    assert next(cell for cell in cells if cell.id == "double").source == SHARED


def test_an_edited_check_is_kept_only_for_what_it_defines(carried, handed_in):
    handed_in.cells[2].source = "pass"
    handed_in.cells[3].source = "def helper(): ..."
    cells = carried(handed_in)
    assert [cell.source for cell in cells if "nbgrader" not in cell.metadata][1:] == [
        "def helper(): ..."
    ]


def test_text_becomes_code_again(carried, handed_in):
    handed_in.cells[1] = new_markdown_cell(
        ANSWER, id="double", metadata={"nbgrader": {"grade_id": "double"}}
    )
    assert carried(handed_in)[1].cell_type == "code"


def test_metadata_of_nbgraders_are_never_the_learners(carried, handed_in):
    handed_in.cells[3].metadata.nbgrader.points = 100
    handed_in.cells.append(
        new_code_cell("", metadata={"nbgrader": {"grade_id": "easy", "grade": True, "points": 9}})
    )
    assert carried(handed_in)[4].metadata == {}


def test_cells_that_write_the_courses_own_code_are_left_out(carried, handed_in):
    handed_in.cells.insert(0, new_code_cell("%%course_files\n═══ check.py\n1", id="write"))
    assert ids(carried(handed_in)) == LESSON
