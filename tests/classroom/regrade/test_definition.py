from copy import deepcopy

import nbformat
import pytest
from nbgrader.api import Grade, GradeCell, SolutionCell

from classroom.regrade.definition import (
    OtherNotebooks,
    definition_in_source,
    follow,
    read_definition,
    renamed_cells,
)

pytestmark = pytest.mark.filterwarnings("ignore:Object of type <Submitted:sqlalchemy.exc.SAWarning")


def in_source(graded):
    return definition_in_source(graded.directory, "small", graded.config)


def in_gradebook(graded):
    with graded.gradebook() as gradebook:
        return read_definition(gradebook, "small")


def take_over(graded, renamed=None):
    new = in_source(graded)
    found = renamed_cells(in_gradebook(graded), new, renamed or {})
    with graded.gradebook() as gradebook:
        follow(gradebook, "small", new, found)
        gradebook.db.commit()
    return new


def rename(cells, old, new):
    [cell] = [cell for cell in cells if cell.id == old]
    cell.id = cell.metadata.nbgrader.grade_id = new


def add_copy(cells):
    cells.append(nbformat.from_dict({**deepcopy(cells[3]), "id": "copy"}))


def test_what_the_source_says_is_what_the_gradebook_says_after_the_first_release(graded):
    definition = in_source(graded)
    assert definition == in_gradebook(graded)
    cells = definition["small"]
    assert list(cells) == ["double", "test_double_shape", "test_double_value"]
    assert cells["double"].kinds == {SolutionCell}
    assert (cells["test_double_value"].kinds, cells["test_double_value"].points) == ({GradeCell}, 2)


def test_an_assignment_that_is_not_there_is_said(graded):
    with pytest.raises(FileNotFoundError, match="no notebook of tiny"):
        definition_in_source(graded.directory, "tiny", graded.config)


@pytest.mark.parametrize(
    "change",
    [
        lambda cells: cells[3].update(source="assert double(4) == 8"),
        lambda cells: cells[3].metadata.nbgrader.update(points=5),
        lambda cells: cells.pop(3),
        lambda cells: (add_copy(cells), rename(cells, "copy", "test_double_more")),
        lambda cells: rename(cells, "test_double_value", "test_double_values"),
        lambda cells: cells[3].metadata.nbgrader.update(solution=True, locked=False),
        lambda cells: cells[1].metadata.nbgrader.update(grade=True, points=3),
    ],
    ids=["text", "points", "removed", "added", "renamed", "by hand now", "by hand too"],
)
def test_the_gradebook_follows_whatever_changes(graded, change):
    graded.edit_source(change)
    new = take_over(graded)
    assert in_gradebook(graded) == new
    points = {name for name, cell in new["small"].items() if cell.points is not None}
    for student in ("ada", "bob"):
        assert {name for _, name in graded.marks(student).cells} == points
        assert graded.marks(student).cells["small", "test_double_shape"].auto == 1


def test_a_renamed_cell_keeps_its_grades(graded):
    graded.by_hand("bob", "test_double_value", 1.5, "nearly")
    graded.edit_source(lambda cells: rename(cells, "test_double_value", "test_twice"))
    take_over(graded)
    mark = graded.marks("bob").cells["small", "test_twice"]
    assert (mark.auto, mark.manual, mark.needs_human) == (0, 1.5, False)


def test_a_renamed_answer_keeps_its_comments(graded):
    graded.by_hand("bob", "test_double_value", 1.5, "nearly")
    graded.edit_source(lambda cells: rename(cells, "double", "twice"))
    take_over(graded)
    assert graded.marks("bob").notes["small", "twice"].manual == "nearly"


def test_a_cell_renamed_and_changed_has_to_be_named(graded, change_text):
    def change(cells):
        change_text(cells)
        rename(cells, "test_double_value", "test_twice")

    graded.edit_source(change)
    old, new = in_gradebook(graded), in_source(graded)
    assert renamed_cells(old, new, {}) == {"small": {}}
    asked = {"test_double_value": "test_twice"}
    assert renamed_cells(old, new, asked) == {"small": asked}


@pytest.mark.parametrize(
    "asked",
    [
        {"test_double_shape": "test_twice"},
        {"test_double_value": "test_double_shape"},
        {"nothing": "test_twice"},
        {"test_double_value": "nothing"},
    ],
)
def test_a_renaming_that_is_none_is_refused(graded, asked):
    graded.edit_source(lambda cells: rename(cells, "test_double_value", "test_twice"))
    with pytest.raises(ValueError, match="is not renamed to"):
        renamed_cells(in_gradebook(graded), in_source(graded), asked)


def test_two_cells_of_one_text_are_not_guessed_at(graded):
    def change(cells):
        cells[2].source = cells[3].source = "assert double"

    graded.edit_source(change)
    take_over(graded)
    graded.edit_source(lambda cells: [rename(cells, f"test_double_{a}", a) for a in SAME])
    assert renamed_cells(in_gradebook(graded), in_source(graded), {}) == {"small": {}}


SAME = ("shape", "value")


def test_another_notebook_is_refused(graded):
    graded.course.source().rename(graded.course.source().with_name("tiny.ipynb"))
    with pytest.raises(OtherNotebooks, match=r"has grades for small, and .* has tiny"):
        renamed_cells(in_gradebook(graded), in_source(graded), {})


def test_grades_of_a_removed_cell_do_not_linger(graded):
    graded.edit_source(lambda cells: cells.pop(3))
    take_over(graded)
    with graded.gradebook() as gradebook:
        assert gradebook.db.query(Grade).count() == 2
        assert gradebook.find_submission("small", "ada").score == 1
        assert gradebook.find_assignment("small").max_score == 1
