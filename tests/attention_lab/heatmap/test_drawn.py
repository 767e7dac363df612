"""Pictures that are kept."""

from functools import partial

import numpy as np
import pytest

from attention_lab import show_heads
from attention_lab.heatmap import drawn, picture, show_features

WEIGHTS = np.tril(np.ones((2, 3, 3))) / np.arange(1, 4)[:, None]
WORDS = ["a", "b", "c"]


@pytest.fixture
def kept():
    shown = {}
    drawn.keep(shown)
    yield shown
    drawn.keep(None)


def pictures(kept):
    """Beside them, the lines of text in them are kept."""
    return [picture for picture in kept.values() if picture.startswith(b"\x89PNG")]


def shown(result):
    return result._repr_mimebundle_()["image/png"]


@pytest.mark.parametrize(
    "make", [lambda factor: show_heads(WEIGHTS * factor, WORDS),
             lambda factor: show_features(WEIGHTS * factor, WORDS)]
)  # fmt: skip
def test_same_numbers_are_drawn_once_and_others_anew(kept, make):
    first = shown(make(1.0))
    assert len(pictures(kept)) == 1
    assert shown(make(1.0)) == first
    assert len(pictures(kept)) == 1
    assert shown(make(0.5)) != first
    assert len(pictures(kept)) == 2


def test_numbers_that_look_the_same_are_the_same(kept):
    for tiny in (0, 1e-9, -1e-9):
        shown(show_heads(WEIGHTS * (1 + tiny), WORDS))
    assert len(pictures(kept)) == 1


@pytest.mark.parametrize(
    "other",
    [
        partial(show_heads, WEIGHTS, ["a", "b", "d"]),
        partial(show_heads, WEIGHTS, WORDS, head=1),
        partial(show_heads, WEIGHTS, WORDS, title="Mine"),
        partial(show_heads, np.where(WEIGHTS > 0, WEIGHTS, np.nan), WORDS),
    ],
)
def test_whatever_else_is_to_be_seen_tells_pictures_apart(kept, other):
    assert shown(show_heads(WEIGHTS, WORDS)) != shown(other())
    assert len(pictures(kept)) == 2


def test_numbers_seen_by_their_colours_alone_tell_pictures_apart(kept):
    tiny = np.arange(6).reshape(1, 2, 3) * 1e-7
    assert shown(show_features(tiny)) != shown(show_features(tiny[..., ::-1]))


def test_kept_picture_is_shown_in_place_of_a_drawing(kept):
    shown(show_heads(WEIGHTS, WORDS))
    drawn.keep(dict.fromkeys(kept, b"kept"))
    assert picture.png(show_heads(WEIGHTS, WORDS).scene) == b"kept"


def test_notebook_keeps_nothing():
    shown(show_heads(WEIGHTS, WORDS))
    assert drawn.kept() == {}


def test_what_cannot_be_written_down_is_drawn_each_time(kept):
    draw = drawn.once(lambda given: b"a picture")
    assert draw(lambda: None) == b"a picture"
    assert kept == {}
