"""Mistakes in `causal_mask(T, device=None, dtype=None)`.

Masks are compared by their effect, so one number stands for all that are as good as infinite.
"""

import math

import torch

from attention_lab.check.catalogue.entry import Fitted, Known

known = Known("causal_mask")
AS_GOOD_AS_INFINITE = -3e4  # beside scores of up to 1e4


def _filled(T, value, dtype):
    return torch.full((T, T), value, dtype=dtype or torch.float32)


def _closed_by(value):
    return lambda T, device=None, dtype=None: _filled(T, value, dtype).triu(1)


def _closing_number(trial):
    """The one number in all closed cells of a mask, if it is finite and not low enough."""
    (mask,) = trial.got
    closed = mask[torch.ones_like(mask, dtype=torch.bool).triu(1)].double()
    found = set(closed.tolist())
    return found.pop() if len(found) == 1 and mask.is_floating_point() else None


@known("mask-boolean-not-additive")
def true_above_the_diagonal(T, device=None, dtype=None):
    """The mask is boolean. This one is added to the scores, and True counts as 1: scores rise by
    one and nothing is closed.

    Look: 0 where a token may look, -inf where it may not.
    Seen in: huggingface/transformers#41443, open-mmlab/mmdetection#12351
    """
    return torch.ones(T, T, dtype=torch.bool).triu(1)


known.variants(
    "mask-boolean-not-additive",
    lambda T, *_: torch.ones(T, T, dtype=torch.bool).tril(),
)


@known("mask-ones-not-neginf")
def one_above_the_diagonal(T, device=None, dtype=None):
    """The cells hold zeros and ones. The mask is added to the scores, so some change by one and
    nothing is masked.

    Look: which number added before softmax makes exp(...) zero?
    """
    return _filled(T, 1.0, dtype).triu(1)


known.variants(
    "mask-ones-not-neginf",
    lambda T, device=None, dtype=None: _filled(T, 1.0, dtype).tril(),
    lambda T, device=None, dtype=None: _filled(T, -1.0, dtype).triu(1),
    lambda T, device=None, dtype=None: _filled(T, -1.0, dtype).tril(),
)


@known("mask-zero-times-inf")
def ones_times_infinity(T, device=None, dtype=None):
    """0 * -inf is NaN, not 0: multiplying a matrix of zeros and ones by -inf spoils the open cells.

    Look: fill with -inf and then cut, or fill only the cells that are closed.
    """
    return _filled(T, 1.0, dtype).triu(1) * -math.inf


known.variants(
    "mask-zero-times-inf",
    lambda T, device=None, dtype=None: _filled(T, 1.0, dtype).tril() * -math.inf,
)


@known("mask-inverted")
def past_hidden(T, device=None, dtype=None):
    """The mask closes the past and opens the future. Row i is the token that looks, column j the
    token looked at: it is j > i that must be closed, above the diagonal.

    Look: which triangle is filled, the upper or the lower one?
    Seen in: karpathy/nanoGPT#170, lucidrains/x-transformers#160
    """
    return _filled(T, -math.inf, dtype).tril(-1)


known.variants(
    "mask-inverted",
    *(
        lambda T, device=None, dtype=None, offset=offset: _filled(T, -math.inf, dtype).tril(offset)
        for offset in (-2, 0, 1)
    ),
)


@known("mask-diagonal-zero")
def self_hidden_too(T, device=None, dtype=None):
    """The diagonal is masked as well, so the first token has nothing to look at: its whole row is
    -inf, and softmax of it is NaN. A token may always look at itself.

    Look: on which diagonal do the closed cells begin?
    """
    return _filled(T, -math.inf, dtype).triu(0)


@known("mask-off-by-one")
def one_step_ahead(T, device=None, dtype=None):
    """The closed cells begin one diagonal too far: each token can peek one step ahead, or loses
    its past.

    Look: the offset of the triangle. Which one is the first diagonal above the main one?
    """
    return _filled(T, -math.inf, dtype).triu(2)


known.variants(
    "mask-off-by-one",
    lambda T, device=None, dtype=None: _filled(T, -math.inf, dtype).triu(-1),
    lambda T, device=None, dtype=None: _filled(T, -math.inf, dtype).triu(3),
)


@known("mask-self-only")
def only_the_diagonal(T, device=None, dtype=None):
    """Only the diagonal is open: each token sees itself and nobody else. The past must stay open.

    Look: close only what lies above the diagonal.
    """
    return _filled(T, -math.inf, dtype).fill_diagonal_(0)


@known("mask-window")
def only_neighbours(T, device=None, dtype=None):
    """The past is closed from some distance on, so only near tokens are seen. All of the past must
    stay open.

    Look: close only what lies above the diagonal.
    """
    return _past_closed_from(2)(T, device, dtype)


def _past_closed_from(distance):
    """The future is closed, and the past from `distance` on."""

    def faulty(T, device=None, dtype=None):
        mask = _filled(T, -math.inf, dtype)
        return mask.triu(1) + mask.tril(-distance)

    return faulty


known.variants(
    "mask-window",
    *map(_past_closed_from, (3, 4, 5)),
    *(
        lambda T, device=None, dtype=None, reach=reach: (
            _filled(T, -math.inf, dtype).triu(reach) + _filled(T, -math.inf, dtype).tril(-reach)
        )
        for reach in (2, 3, 4)
    ),
)


@known("mask-closes-all")
def everything_closed(T, device=None, dtype=None):
    """Everything is masked: every cell holds -inf, and softmax of a fully masked row is NaN.

    Look: what opens the past and the diagonal?
    """
    return _filled(T, -math.inf, dtype)


@known("mask-plus-inf")
def plus_infinity(T, device=None, dtype=None):
    """Closed cells hold a large positive number. Added to a score that draws all the weight to the
    future, and inf over inf is NaN.

    Look: the sign.
    """
    return _filled(T, math.inf, dtype).triu(1)


@known("mask-finite-value")
def minus_ten_thousand(T, device=None, dtype=None):
    """Closed cells hold a finite number that is too small. It closes the future while scores are
    small; where they differ by more, the future leaks through.

    Look: `-inf`, or the smallest number of the dtype.
    Seen in: huggingface/transformers#17306, facebookresearch/fairseq#3575, NVIDIA/apex#1105
    """
    return _filled(T, -1e4, dtype).triu(1)


def _finite(trial):
    fill = _closing_number(trial)
    return fill if fill is not None and AS_GOOD_AS_INFINITE < fill < -1 else None


def _tiny(trial):
    fill = _closing_number(trial)
    return fill if fill is not None and 0 < abs(fill) < 0.1 else None


known.variants("mask-finite-value", Fitted(_closed_by, _finite))


@known("mask-tiny-value")
def next_to_nothing(T, device=None, dtype=None):
    """Closed cells hold a number next to 0, most often -1e-9 where -1e9 was meant. Adding it
    changes nothing: nothing is closed.

    Look: the sign of the exponent.
    Seen in: hyunwoongko/transformer#10, Shujun-He/RibonanzaNet#5
    """
    return _filled(T, -1e-9, dtype).triu(1)


known.variants("mask-tiny-value", Fitted(_closed_by, _tiny))


@known("mask-wrong-dtype")
def whole_numbers(T, device=None, dtype=None):
    """The mask is of another number type than asked for. Whole numbers cannot hold -inf, and
    another float type changes the type of the scores that it is added to.

    Look: pass `dtype` on when the tensor is made.
    Seen in: intel/ipex-llm#11071, open-mmlab/mmdetection#12351
    """
    return torch.full((T, T), -9999).triu(1)


known.variants(
    "mask-wrong-dtype",
    lambda T, *_: torch.full((T, T), -(10**9)).triu(1),
    lambda T, *_: torch.ones(T, T, dtype=torch.int64).triu(1),
)


@known("mask-extra-dims")
def for_batch_and_heads(T, device=None, dtype=None):
    """The numbers are right and the shape is not (T, T): there are extra axes of size 1. It works
    by broadcasting, but (T, T) was promised, and broadcasting does the rest anyway.

    Look: leave out `unsqueeze`, `view` or `None` indexing.
    """
    return _filled(T, -math.inf, dtype).triu(1)[None, None]


known.variants(
    "mask-extra-dims",
    lambda T, device=None, dtype=None: _filled(T, -math.inf, dtype).triu(1)[None],
    lambda T, device=None, dtype=None: _filled(T, -math.inf, dtype).triu(1)[..., None],
)


@known("shape-only-stub")
def nothing_hidden(T, device=None, dtype=None):
    """The mask has the right shape but masks nothing.

    Look: what has to be above the diagonal?
    """
    return _filled(T, 0.0, dtype)


known.behaviour(
    "mask-wrong-dtype",
    """The mask is of another number type than asked for, and changes the type of the scores that
    it is added to.

    Look: pass `dtype` on when the tensor is made.
    Seen in: intel/ipex-llm#11071, open-mmlab/mmdetection#12351
    """,
)
known.behaviour(
    "wrong-return-shape",
    """The mask is not T by T. There is one row for each token that looks and one column for each
    token looked at.

    Look: both sizes are T.
    """,
)
known.behaviour(
    "mask-wrong-device",
    """The mask is made on the CPU whatever `device` says. On a GPU the next addition fails.

    Look: pass `device` on when the tensor is made.
    Seen in: mlverse/torch#1473, InfiniTensor/llaisys#11
    """,
)
known.behaviour(
    "stale-cache",
    """A mask that was made before is handed out again, though another T, dtype or device was asked
    for.

    Look: what is remembered between calls, and by what is it looked up? Making it anew is cheap.
    Seen in: facebookresearch/xformers#655, facebookresearch/xformers#66
    """,
)
