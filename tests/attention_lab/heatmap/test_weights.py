import numpy as np
import pytest
import torch

from attention_lab.heatmap.weights import (
    above_diagonal,
    are_weights,
    heads_are_weights,
    looks_causal,
    make_causal,
    read_heads,
    read_mask,
    read_numbers,
    read_tokens,
    read_variants,
    tolerance,
)

SCORES = np.random.default_rng(0).normal(size=(2, 4, 4))


def softmax(scores):
    return np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)


def test_one_array_has_no_name_and_a_batch_of_one():
    (name, array), *rest = read_variants(torch.ones(2, 3, 4, dtype=torch.half)).items()
    assert (name, array.shape, array.dtype, rest) == ("", (1, 2, 3, 4), np.float64, [])


def test_layers_are_numbered_and_variants_keep_their_names():
    assert list(read_variants([SCORES, SCORES])) == ["layer 0", "layer 1"]
    assert list(read_variants({"yours": SCORES, 2: SCORES})) == ["yours", "2"]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64, torch.int64])
def test_numbers_of_any_dtype(dtype):
    given = torch.tensor([[[1, 0], [0, 1]]], dtype=dtype)
    np.testing.assert_array_equal(read_heads(given)[0, 0], np.eye(2))


def test_numbers_that_need_gradients():
    assert read_heads(torch.ones(1, 2, 2, requires_grad=True)).sum() == 4


@pytest.mark.parametrize(
    ("given", "error", "says"),
    [
        (SCORES[0], ValueError, r"shape \(4, 4\). For a single head pass weights\[None\]"),
        (SCORES[None, None], ValueError, r"must be \(H, T, S\) or \(B, H, T, S\)"),
        (np.empty((2, 0, 0)), ValueError, "nothing to show"),
        (torch.empty(1, 2, 2, device="meta"), ValueError, "meta device"),
        ([[[1.0, 0.0], [0.0]]], TypeError, "one regular array"),
        (np.array([[["a"]]]), TypeError, "real numbers"),
        (3, TypeError, "torch tensor or a numpy array, not int"),
    ],
)
def test_one_clear_sentence_for(given, error, says):
    with pytest.raises(error, match=says):
        read_heads(given)


def test_the_argument_is_named():
    with pytest.raises(TypeError, match="mask must be a torch tensor"):
        read_numbers(None, "mask")


def test_tokens_are_counted_unless_given():
    assert read_tokens(None, 2, 3) == (("0", "1"), ("0", "1", "2"))
    assert read_tokens(["a", 7], 2, 2) == (("a", "7"), ("a", "7"))
    assert read_tokens((["a"], ["b", "c"]), 1, 2) == (("a",), ("b", "c"))
    assert read_tokens((["a"], ["b", "c"]), 1, 2, B=2) == (("a",), ("b", "c"))


def test_a_pair_of_words_is_no_pair_of_lists():
    assert read_tokens(["ab", "cd"], 2, 2) == (("ab", "cd"), ("ab", "cd"))


@pytest.mark.parametrize("least", [-np.inf, -1e9, -1e4, np.finfo(np.float16).min])
def test_additive_masks_as_good_as_minus_infinity(least):
    mask = np.where(above_diagonal(3, 3), least, 0.0)
    np.testing.assert_array_equal(read_mask(mask, (1, 2, 3, 3))[0, 1], above_diagonal(3, 3))


def test_biases_that_are_no_mask():
    assert not read_mask(np.array([[0.0, -5.0], [-999.0, 3.0]]), (1, 1, 2, 2)).any()


def test_causal_is_exact_zeros_above_the_diagonal():
    masked = softmax(np.where(above_diagonal(4, 4), -np.inf, SCORES))
    assert looks_causal(masked)
    assert not looks_causal(masked + 1e-12)
    assert not looks_causal(masked[..., :3])
    assert not looks_causal(np.ones((1, 1, 1)))


def test_weights_are_finite_positive_and_sum_to_one():
    assert are_weights(softmax(SCORES))
    for wrong in (SCORES, softmax(SCORES) * 0.9, softmax(SCORES) * np.nan):
        assert not are_weights(wrong)
    infinite = np.array([[[np.inf, -np.inf], [0, 1]]])
    heads = np.concatenate([np.eye(2)[None], infinite, np.eye(2)[None] / 2])
    assert heads_are_weights(heads).tolist() == [True, False, False]


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32, torch.float64])
@pytest.mark.parametrize("T", [2, 5, 40, 300])
def test_rows_of_few_digits_sum_to_one(dtype, T):
    scores = torch.randn(3, T, T, generator=torch.Generator().manual_seed(T)) * 2
    given = scores.to(dtype).softmax(-1)
    for weights in (given, given.float()):  # numpy has no bfloat16
        assert are_weights(read_heads(weights))
    assert not are_weights(read_heads(given * 0.95))


def test_digits_are_those_that_are_used():
    assert tolerance(np.array([1 / 3, np.nan, np.inf])) == 1e-3
    for dtype, expected in ((torch.bfloat16, 2**-6), (torch.half, 2**-9), (torch.float32, 1e-3)):
        given = torch.rand(100, generator=torch.Generator().manual_seed(0)).to(dtype)
        assert tolerance(given.double().numpy()) == expected
    assert tolerance(np.eye(3) / 2) == 2**-6
    assert tolerance(np.empty(0)) == 2**-6


def test_made_causal_is_what_softmax_gives_behind_a_mask():
    masked = softmax(np.where(above_diagonal(4, 4), -np.inf, SCORES))
    np.testing.assert_allclose(make_causal(softmax(SCORES)), masked)


def test_nothing_can_be_made_causal_where_nothing_is_left():
    assert make_causal(np.array([[[0.0, 1.0], [0.5, 0.5]]])) is None
