import numpy as np
import pytest

from attention_lab.heatmap.scene import Frame
from attention_lab.heatmap.weights import above_diagonal
from attention_lab.heatmap.words import name_heads, shorten, spread_in_bits, tell_apart

TOKENS = ("the", "cat", "sat", ".", "the", "cat")
T = len(TOKENS)


def frame(weights, causal=False):
    weights = np.asarray(weights, float)[None]
    masked = np.broadcast_to(above_diagonal(T, T) & causal, weights.shape)
    return Frame(weights, masked)


def shifted(step):
    return np.eye(T)[(np.arange(T) + step).clip(0, T - 1)]


@pytest.mark.parametrize(
    ("weights", "label"),
    [
        (shifted(-1), "previous token 100 %"),
        (shifted(1), "next token 100 %"),
        (np.eye(T), "itself 100 %"),
        (np.eye(T)[np.zeros(T, int)], "first token 100 %"),
        (np.eye(T)[np.full(T, 3)], "separator 100 %"),
        (np.full((T, T), 1 / T), f"spread {np.log2(T):.1f} bits"),
        (np.full((T, T), np.nan), "has NaN"),
        (np.eye(T) * 2, "0.0 to 2.0"),
        (np.eye(T) * 0.5, "sums are not 1"),
    ],
)
def test_a_head_is_named_by_what_it_does(weights, label):
    assert name_heads(frame(weights), TOKENS, TOKENS) == [label]


def test_same_word_counts_all_its_places():
    words = np.array(TOKENS)
    same = (words[:, None] == words).astype(float)
    assert name_heads(frame(same / same.sum(-1, keepdims=True)), TOKENS, TOKENS) == [
        "same word 100 %"
    ]


def test_first_row_behind_a_mask_has_no_choice():
    causal = shifted(-1)
    assert name_heads(frame(causal, causal=True), TOKENS, TOKENS) == ["previous token 100 %"]


def test_spread_of_two_equal_keys_is_one_bit():
    assert spread_in_bits(np.full((1, 3, 2), 0.5)) == pytest.approx([1.0])


def test_repeated_words_are_told_apart_and_blanks_seen():
    assert tell_apart(("a", " a", "a", "")) == ["a₁", "␣a", "a₂", "∅"]


def test_shorten():
    assert shorten("antidisestablishment", 6) == "antid…"
    assert shorten("cat", 6) == "cat"
