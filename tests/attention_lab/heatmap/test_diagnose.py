import numpy as np
import pytest
import torch

from attention_lab.heatmap.diagnose import diagnose
from attention_lab.heatmap.scene import Frame
from attention_lab.heatmap.weights import above_diagonal

RNG = np.random.default_rng(0)
SCORES = RNG.normal(size=(3, 5, 5))
RIGHT = np.exp(SCORES) / np.exp(SCORES).sum(-1, keepdims=True)
OPEN = np.zeros(RIGHT.shape, bool)
FUTURE = OPEN | above_diagonal(5, 5)


def test_nothing_wrong():
    assert diagnose(Frame(RIGHT, OPEN)) == []


@pytest.mark.parametrize(
    ("weights", "masked", "says"),
    [
        (RIGHT.swapaxes(-1, -2), OPEN, "Columns sum to 1 and rows do not"),
        (RIGHT * 0.7, OPEN, "Rows do not sum to 1: they sum to 0.70 up to 0.70"),
        (np.where(FUTURE, 0, RIGHT), FUTURE, "mask the scores before it"),
        (RIGHT, FUTURE, "The future leaks"),
        (RIGHT, OPEN | (np.arange(5) == 0), "A masked key is looked at"),
        (SCORES, OPEN, "These are not weights yet"),
        (RIGHT[[0, 0, 0]], OPEN, "All 3 heads are the same"),
    ],
)
def test_what_is_wrong_is_named(weights, masked, says):
    (sentence,) = diagnose(Frame(weights, masked))
    assert says in sentence


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_nothing_is_wrong_with_few_digits(dtype):
    given = torch.from_numpy(RNG.normal(size=(3, 40, 40))).to(dtype).softmax(-1)
    weights = given.double().numpy()
    assert diagnose(Frame(weights, np.zeros(weights.shape, bool))) == []


@pytest.mark.parametrize("p", [0.1, 0.3, 0.5])
@pytest.mark.parametrize("causal", [False, True])
def test_dropout_is_named(p, causal):
    generator = np.random.default_rng(round(10 * p))
    scores = generator.normal(size=(12, 16, 16))
    scores[:, above_diagonal(16, 16) & causal] = -np.inf
    weights = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
    dropped = weights * (generator.random(weights.shape) >= p) / (1 - p)
    (sentence,) = diagnose(Frame(dropped, np.zeros(weights.shape, bool)))
    assert "call model.eval()" in sentence


def test_sums_near_one_are_told_from_one():
    (sentence,) = diagnose(Frame(RIGHT * 1.004, OPEN))
    assert "they sum to 1.0040 up to 1.0040" in sentence


@pytest.mark.parametrize(
    ("cells", "says"),
    [
        ([(0, 2), (1, 2), (2, 2)], "Row 2 is NaN in all 3 heads: softmax found"),
        ([(1, 0), (1, 3)], "2 rows, from row 0, are NaN in head 1: "),
        ([(1, 4), (2, 4)], "Row 4 is NaN in heads 1, 2: "),
        ([(0, 1), (2, 3)], "2 rows are NaN, first row 1 of head 0: "),
    ],
)
def test_rows_without_numbers_are_named(cells, says):
    weights = RIGHT.copy()
    for head, row in cells:
        weights[head, row] = np.nan
    (sentence,) = diagnose(Frame(weights, OPEN))
    assert sentence.startswith(says)
    assert diagnose(Frame(np.full((1, 1, 1), np.nan), OPEN[:1, :1, :1]))[0].startswith(
        "Row 0 is NaN:"
    )


def test_one_head_or_flat_heads_are_not_accused_of_being_equal():
    assert diagnose(Frame(RIGHT[:1], OPEN[:1])) == []
    assert diagnose(Frame(np.full((3, 5, 5), 0.2), OPEN)) == []
