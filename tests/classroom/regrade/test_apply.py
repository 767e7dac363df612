import csv

import nbformat
import pytest

from classroom.regrade import apply as module
from classroom.regrade.apply import apply
from classroom.regrade.changes import find_changes
from classroom.regrade.marks import Mark, Note
from classroom.regrade.trial import last_trial, run_trial

pytestmark = pytest.mark.filterwarnings("ignore:Object of type <Submitted:sqlalchemy.exc.SAWarning")

SHAPE, VALUE = ("small", "test_double_shape"), ("small", "test_double_value")


def rehearse(graded, **renamed):
    return run_trial(graded.directory, "small", graded.config, renamed)


def finish(graded):
    trial = last_trial(graded.directory, "small")
    changes = find_changes(graded.directory, "small", trial)
    return apply(graded.directory, "small", trial, changes)


def kept_rows(kept):
    with (kept / "grades.csv").open(newline="", encoding="utf-8") as file:
        return {(row["student"], row["cell"]): row for row in csv.DictReader(file)}


def points_in(path):
    return nbformat.read(path, as_version=4).metadata.points


def test_new_points_and_notebooks_take_the_place_of_the_old(graded):
    graded.verdicts["bob"] = {"test_double_shape": 1, "test_double_value": 2}
    rehearse(graded)
    kept = finish(graded)
    assert graded.marks("bob").cells == {
        SHAPE: Mark(1, None, None, False),
        VALUE: Mark(2, None, None, False),
    }
    assert points_in(graded.autograded("bob")) == graded.verdicts["bob"]
    old = kept / "autograded" / "bob" / "small" / "small.ipynb"
    assert points_in(old) == {"test_double_shape": 1, "test_double_value": 0}
    assert not (graded.root / "regrade" / "small" / "trial").exists()


def test_what_a_human_gave_survives_also_what_was_given_after_the_trial(graded):
    graded.by_hand("ada", "test_double_value", 0.5, "copied")
    graded.verdicts["bob"]["test_double_value"] = 2
    rehearse(graded)
    graded.by_hand("bob", "test_double_value", 1.5, "=nearly")
    kept = finish(graded)
    assert graded.marks("ada").cells[VALUE] == Mark(2, 0.5, None, False)
    assert graded.marks("bob").cells[VALUE] == Mark(2, 1.5, None, True)
    assert graded.marks("bob").notes == {("small", "double"): Note(None, "=nearly")}
    rows = kept_rows(kept)
    assert rows["bob", "test_double_value"]["manual_score"] == "1.5"
    assert rows["bob", "double"]["manual_comment"] == "'=nearly"


def test_the_grade_of_a_removed_cell_is_kept(graded):
    graded.by_hand("bob", "test_double_value", 1.5, "nearly")
    graded.edit_source(lambda cells: cells.pop(3))
    for points in graded.verdicts.values():
        del points["test_double_value"]
    rehearse(graded)
    kept = finish(graded)
    assert set(graded.marks("bob").cells) == {SHAPE}
    row = kept_rows(kept)["bob", "test_double_value"]
    assert (row["auto_score"], row["manual_score"]) == ("0", "1.5")


@pytest.mark.parametrize("moved", [0, 1])
def test_cut_off_it_is_finished_by_the_same_command(graded, monkeypatch, moved):
    graded.by_hand("bob", "test_double_value", 1.5, "nearly")

    def rename(cells):
        cells[3].metadata.nbgrader.grade_id = cells[3].id = "test_twice"

    graded.edit_source(rename)
    for student in graded.verdicts:
        graded.verdicts[student] = {"test_double_shape": 0, "test_twice": 2}
    rehearse(graded)
    exchange = module._exchange
    left = [moved]

    def cut_off(current, new, before):
        if left[0] == 0:
            raise KeyboardInterrupt
        left[0] -= 1
        exchange(current, new, before)

    monkeypatch.setattr(module, "_exchange", cut_off)
    with pytest.raises(KeyboardInterrupt):
        finish(graded)
    monkeypatch.setattr(module, "_exchange", exchange)
    kept = finish(graded)

    assert graded.marks("bob").cells["small", "test_twice"] == Mark(2, 1.5, None, True)
    assert kept_rows(kept)["bob", "test_double_value"]["auto_score"] == "0"
    for student in ("ada", "bob"):
        assert points_in(graded.autograded(student)) == graded.verdicts[student]
        old = kept / "autograded" / student / "small" / "small.ipynb"
        assert points_in(old)["test_double_shape"] == 1


def test_in_postgresql_it_is_the_same(graded_in_postgresql):
    """Where every reference between tables is checked, as it is not in SQLite."""
    graded = graded_in_postgresql
    graded.by_hand("bob", "test_double_value", 1.5, "nearly")

    def change(cells):
        cells[3].metadata.nbgrader.grade_id = cells[3].id = "test_twice"
        gone = cells.pop(2)
        gone.metadata.nbgrader.grade_id = gone.id = "test_more"
        gone.source = "assert double(0) == 0"
        cells.append(gone)

    graded.edit_source(change)
    for student in graded.verdicts:
        graded.verdicts[student] = {"test_twice": 2, "test_more": 1}
    rehearse(graded)
    kept = finish(graded)
    assert graded.marks("bob").cells == {
        ("small", "test_twice"): Mark(2, 1.5, None, True),
        ("small", "test_more"): Mark(1, None, None, False),
    }
    assert graded.marks("bob").notes == {("small", "double"): Note(None, "nearly")}
    assert kept_rows(kept)["bob", "test_double_shape"]["auto_score"] == "1"
