import numpy as np
import pytest

from attention_lab import explore


def blend(tokens, temperature=1.0, causal=False, seed=0):
    T = len(tokens)
    scores = np.random.default_rng(seed).normal(size=(2, T, T)) / temperature
    scores = np.where(np.triu(np.ones((T, T)), 1) * causal, -np.inf, scores)
    return np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)


def test_usual_options_start_at_the_function_s_defaults():
    scene = explore(blend, "the cat sat").scene
    assert [(c.name, c.values[c.start]) for c in scene.controls] == [
        ("temperature", 1.0),
        ("causal", False),
        ("seed", 0),
    ]
    np.testing.assert_array_equal(scene.shown.weights, blend(["the", "cat", "sat"]))


def test_every_combination_is_where_it_belongs():
    scene = explore(blend, ["a", "b"], temperature=[1, 2], seed=[3, 4, 5]).scene
    np.testing.assert_array_equal(scene.frames[4].weights, blend(["a", "b"], 2, seed=4))
    assert scene.frame_names[4] == "temperature 2, seed 4"


def test_causal_option_is_checked():
    assert (
        "future leaks"
        in explore(lambda tokens, causal: blend(tokens), "a b", causal=[True]).diagnose()[0]
    )


@pytest.mark.parametrize(
    ("fn", "tokens", "options", "error", "says"),
    [
        (3, "a b", {}, TypeError, "must be a function"),
        (blend, "", {}, ValueError, "no words"),
        (blend, "a b", {"seed": 3}, TypeError, "list of values"),
        (blend, "a b", {"seed": []}, TypeError, "list of values"),
        (blend, "a b", {"seed": [0, "x"]}, TypeError, "list of values"),
        (blend, "a b", {"seed": range(300)}, ValueError, "300 combinations"),
        (lambda tokens: np.ones((2, 3, 3)), "a b", {}, ValueError, "T = 2"),
        (lambda tokens: 1 / 0, "a b", {}, ZeroDivisionError, "division"),
    ],
)
def test_one_clear_sentence_for(fn, tokens, options, error, says):
    with pytest.raises(error, match=says):
        explore(fn, tokens, **options)
