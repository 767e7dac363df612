import pytest

from attention_lab.pretrained.model import HEADS, LAYERS
from attention_lab.pretrained.relations import Case, Rivals
from attention_lab.pretrained.tally import _weight, _wins, tally

WORDS = ("the", "dog", "saw", "the", "cat")


def test_the_share_is_the_mean_weight_over_all_pairs(minilm):
    weights = minilm.weights(" ".join(WORDS))
    expected = (weights[:, :, 2, 3] + weights[:, :, 5, 1]) / 2
    share = _weight(minilm, [Case(WORDS, ((1, 2), (4, 0)))])
    assert share.shape == (LAYERS, HEADS)
    assert share == pytest.approx(expected, abs=1e-6)


def test_a_win_is_more_weight_on_the_right_word(minilm):
    weights = minilm.weights(" ".join(WORDS))
    cases = [Rivals(WORDS, 2, 1, 4), Rivals(WORDS, 2, 4, 1)]
    expected = weights[:, :, 3, 2] > weights[:, :, 3, 5]
    assert (_wins(minilm, cases[:1]) == expected.float()).all()
    assert (_wins(minilm, cases) == 0.5).all()


def test_in_words(monkeypatch, minilm):
    lines = tally(minilm).splitlines()
    assert len(lines) == 8
    assert lines[1].split() == ["previous", "token", "L0.H2", "100%", "L2.H11", "31%", "5%"]
