import nbformat
import pytest
from nbgrader.api import GradeCell

from classroom.grading.record import Record
from classroom.regrade.changes import (
    JUDGED_ANEW,
    CellChange,
    changed_cells,
    find_changes,
    kept,
    points_changed,
    regraded,
)
from classroom.regrade.definition import Cell
from classroom.regrade.marks import Mark, Marks, Note
from classroom.regrade.trial import run_trial

OLD, NEW, OTHER = ("nb", "old"), ("nb", "new"), ("nb", "other")
RENAMED = {NEW: OLD}


def cell(points=1.0, source="assert True", cell_type="code"):
    return Cell(frozenset({GradeCell}), points, cell_type, True, source, None)


def test_what_is_new_about_a_cell_is_said_in_words():
    old = {"nb": {"old": cell(), "other": cell(), "same": cell(), "gone": cell()}}
    new = {"nb": {"new": cell(2), "other": cell(1, "assert 1"), "same": cell(), "more": cell(3)}}
    assert changed_cells(old, new, RENAMED) == {
        NEW: "old until now; 2 points, 1 until now",
        OTHER: "another text",
        ("nb", "more"): "new, 3 points",
        ("nb", "gone"): "removed",
    }


def test_cells_without_points_are_not_spoken_of():
    given = Cell(frozenset(), None, "markdown", True, "Read this.", None)
    assert changed_cells({"nb": {}}, {"nb": {"given": given}}, {}) == {}


def test_automatic_points_are_new_and_a_humans_stay():
    old = Marks(None, {OLD: Mark(0, 1.5, 0.25, False)}, {OLD: Note(None, "nearly")})
    tried = Marks(None, {NEW: Mark(2, 1.5, 0.25, True)}, {NEW: Note("No response.", None)})
    after = regraded(old, tried, RENAMED, {})
    assert after.cells == {NEW: Mark(2, 1.5, 0.25, True)}
    assert after.notes == {NEW: Note("No response.", "nearly")}


@pytest.mark.parametrize(
    ("was", "now", "changed", "needs"),
    [
        (Mark(None, 3, None, False), Mark(None, 3, None, True), {}, False),
        (Mark(0, 3, None, False), Mark(0, 3, None, True), {}, False),
        (Mark(0, 3, None, False), Mark(2, 3, None, True), {}, True),
        (Mark(0, 3, None, False), Mark(0, 3, None, True), {OTHER: "another text"}, True),
        (Mark(0, 3, None, True), Mark(0, 3, None, True), {}, True),
        (Mark(0, None, None, False), Mark(2, None, None, False), {}, False),
        (Mark(0, None, None, False), Mark(None, None, None, True), {}, True),
    ],
    ids=["essay", "same", "points", "text", "waiting", "automatic", "no verdict"],
)
def test_a_human_looks_again_only_where_something_changed(was, now, changed, needs):
    after = regraded(Marks(None, {OTHER: was}), Marks(None, {OTHER: now}), {}, changed)
    assert after.cells[OTHER].needs_human is needs


def test_who_cannot_be_graded_again_keeps_all_there_was():
    old = Marks(None, {OLD: Mark(2, None, None, False)}, {OLD: Note(None, "good")}, {"nb": 1.0})
    tried = Marks(None, {NEW: Mark(), OTHER: Mark()}, {NEW: Note(None, None)}, {"nb": None})
    after = kept(old, tried, RENAMED)
    assert after.cells == {NEW: Mark(2, None, None, False), OTHER: Mark()}
    assert after.notes == {NEW: Note(None, "good")}
    assert after.penalties == {"nb": 1.0}


def test_a_flag_stays_and_a_new_one_is_taken_over():
    was = Marks(flagged={"human": True, "trial": False, "nobody": False})
    tried = Marks(flagged={"human": False, "trial": True, "nobody": False})
    after = regraded(was, tried, {}, {}).flagged
    assert after == {"human": True, "trial": True, "nobody": False}
    assert kept(was, tried, {}).flagged == was.flagged


def test_cells_in_which_points_differ():
    before = Marks(None, {OLD: Mark(1), OTHER: Mark(2), ("nb", "gone"): Mark(1, 0.5)})
    after = Marks(None, {NEW: Mark(1), OTHER: Mark(0), ("nb", "more"): Mark(3)})
    words = {("nb", "gone"): "removed", ("nb", "more"): "new, 3 points"}
    assert points_changed(before, after, RENAMED, words) == [
        CellChange(("nb", "gone"), 0.5, None, "removed"),
        CellChange(("nb", "more"), None, 3, "new, 3 points"),
        CellChange(("nb", "other"), 2, 0, JUDGED_ANEW),
    ]


@pytest.mark.filterwarnings("ignore:Object of type <Submitted:sqlalchemy.exc.SAWarning")
def test_a_mistake_that_is_recognised_now_is_named(graded):
    graded.verdicts["ada"] = {"test_double_shape": 0, "test_double_value": 0}
    trial = run_trial(graded.directory, "small", graded.config, {})
    recognise(graded.autograded("ada"), {"test_double_value": "doubles-nothing"})
    folder = graded.root / "regrade" / "small" / "trial" / "autograded"
    mistakes = {"test_double_shape": "returns-text", "test_double_value": "doubles-nothing"}
    recognise(folder / "ada" / "small" / "small.ipynb", mistakes)
    [ada] = find_changes(graded.directory, "small", trial).students
    assert [cell.why for cell in ada.cells] == [f"{JUDGED_ANEW}: returns-text", JUDGED_ANEW]


def recognise(path, misconceptions):
    notebook = nbformat.read(path, as_version=4)
    Record(True, misconceptions=misconceptions).write(notebook)
    nbformat.write(notebook, path)
