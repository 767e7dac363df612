import copy
import copyreg

import pytest

from attention_lab.check import Mistake

LONG = "the numbers of one row do not lie side by side in memory, and a view never moves numbers."


def made(**changed):
    fields = {"seen": "what came back.", "means": LONG, "look": LONG} | changed
    return Mistake("merge_heads", "value", **fields, misconception="missing-contiguous")


def test_it_is_an_assertion_and_carries_what_it_says():
    mistake = made()
    assert isinstance(mistake, AssertionError)
    assert (mistake.step, mistake.aspect) == ("merge_heads", "value")
    assert mistake.misconception == "missing-contiguous"


def test_three_short_parts_within_the_width_of_a_cell():
    lines = str(made()).splitlines()
    assert lines[0] == "merge_heads: what came back."
    assert [line[:9] for line in lines[1:]] == ["  Means: ", " " * 9, "  Look:  ", " " * 9]
    assert max(map(len, lines)) <= 88


def test_what_was_seen_is_cut_short_at_six_lines():
    lines = str(made(seen="it raised " + "something long " * 40)).splitlines()
    assert len(lines) == 6
    assert lines[1].endswith(" \N{HORIZONTAL ELLIPSIS}")


@pytest.mark.parametrize("part", ["means", "look"])
def test_a_part_that_is_empty_is_left_out(part):
    assert part.capitalize() not in str(made(**{part: ""}))


def test_a_notebook_shows_it_without_a_traceback():
    (text,) = made()._render_traceback_()
    assert text.endswith(str(made()))


def test_a_copy_holds_what_it_says_and_no_frames(monkeypatch):
    mistake = made(card="<p>")
    monkeypatch.setitem(copyreg.dispatch_table, Mistake, lambda mistake: (lambda: mistake, ()))
    with pytest.raises(Mistake):
        raise mistake
    copied = copy.copy(mistake)
    assert (copied.args, copied.card) == (mistake.args, "<p>")
    assert copied.__traceback__ is None
