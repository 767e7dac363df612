"""Mistakes in `causal_mask(T, device=None, dtype=None)`."""

import math

import torch

from attention_lab.check.catalogue.entry import Known

known = Known("causal_mask")


def _filled(T, value, dtype):
    return torch.full((T, T), value, dtype=dtype or torch.float32)


@known("mask-boolean-not-additive")
def true_above_the_diagonal(T, device=None, dtype=None):
    """The mask is boolean. This one is added to the scores, and True counts as 1: the blocked
    scores rise by one and nothing is hidden.

    Look: 0.0 where a token may look, -inf where it may not.
    """
    return torch.ones(T, T, dtype=torch.bool).triu(1)


@known("mask-boolean-not-additive")
def true_where_open(T, device=None, dtype=None):
    return torch.ones(T, T, dtype=torch.bool).tril()


@known("mask-ones-not-neginf")
def one_above_the_diagonal(T, device=None, dtype=None):
    """Blocked cells hold 1. The mask is added to the scores, so the future becomes a little more
    attractive instead of invisible.

    Look: which number added before softmax makes exp(...) zero?
    """
    return _filled(T, 1.0, dtype).triu(1)


@known("mask-ones-not-neginf")
def one_where_open(T, device=None, dtype=None):
    return _filled(T, 1.0, dtype).tril()


@known("mask-ones-not-neginf")
def minus_one_above_the_diagonal(T, device=None, dtype=None):
    return _filled(T, -1.0, dtype).triu(1)


@known("mask-zero-times-inf")
def ones_times_infinity(T, device=None, dtype=None):
    """0 * -inf is NaN, not 0: multiplying a matrix of zeros and ones by -inf spoils the open cells.

    Look: fill with -inf first, then cut with `triu`; or use `masked_fill`.
    """
    return _filled(T, 1.0, dtype).triu(1) * -math.inf


@known("mask-zero-times-inf")
def rest_times_infinity(T, device=None, dtype=None):
    return (1 - _filled(T, 1.0, dtype).tril()) * -math.inf


@known("mask-inverted")
def past_hidden(T, device=None, dtype=None):
    """The mask hides the past and shows the future. Row i is the token that looks, column j the
    token looked at: j > i must be hidden, that is above the diagonal.

    Look: `triu`, upper, not `tril`.
    """
    return _filled(T, -math.inf, dtype).tril(-1)


@known("mask-inverted")
def past_and_self_hidden(T, device=None, dtype=None):
    return _filled(T, -math.inf, dtype).tril()


@known("mask-diagonal-zero")
def self_hidden_too(T, device=None, dtype=None):
    """The diagonal is blocked as well, so the first token has nothing to look at: its whole row is
    -inf, and softmax gives NaN. A token may always look at itself.

    Look: start one above the diagonal, `triu(1)`.
    """
    return _filled(T, -math.inf, dtype).triu(0)


@known("mask-off-by-one")
def one_step_ahead(T, device=None, dtype=None):
    """Each token can peek one step ahead: the first diagonal above the main one is open.

    Look: the number in `triu`: 1 starts right above the main diagonal.
    """
    return _filled(T, -math.inf, dtype).triu(2)


@known("mask-off-by-one")
def one_step_short(T, device=None, dtype=None):
    return _filled(T, -math.inf, dtype).triu(-1)


@known("mask-self-only")
def only_the_diagonal(T, device=None, dtype=None):
    """Only the diagonal is open: each token sees itself and nobody else. The past must stay open.

    Look: block only what lies above the diagonal.
    """
    return _filled(T, -math.inf, dtype).fill_diagonal_(0)


@known("mask-plus-inf")
def plus_infinity(T, device=None, dtype=None):
    """Blocked cells hold +inf. Added to a score that draws all the weight to the future, and inf
    over inf is NaN.

    Look: the sign.
    """
    return _filled(T, math.inf, dtype).triu(1)


def _blocked_by(value):
    def faulty(T, device=None, dtype=None):
        return _filled(T, value, dtype).triu(1)

    return faulty


_by_1e4 = _blocked_by(-1e4)
_by_1e4.__doc__ = """Blocked cells hold a finite number that is too small. It hides the future
while scores are small; where they differ by more, the future leaks through.

Look: `float("-inf")`, or `torch.finfo(dtype).min`.
"""
known("mask-finite-value")(_by_1e4)
_by_1e_minus_9 = _blocked_by(-1e-9)
_by_1e_minus_9.__doc__ = """Blocked cells hold a number next to 0, most often -1e-9 where -1e9 was
meant. Adding it changes nothing: nothing is hidden.

Look: the sign of the exponent; or write `float("-inf")`.
"""
known("mask-tiny-value")(_by_1e_minus_9)
known("mask-tiny-value")(_blocked_by(1e-9))


@known("mask-wrong-dtype")
def whole_numbers(T, device=None, dtype=None):
    """The mask is of another number type than asked for. Whole numbers cannot hold -inf, and
    another float type changes the type of the scores that it is added to.

    Look: pass `dtype=dtype` on when the tensor is made.
    """
    return torch.full((T, T), -9999).triu(1)


@known("mask-wrong-dtype")
def whole_ones(T, device=None, dtype=None):
    return torch.ones(T, T, dtype=torch.int64).triu(1)


@known("mask-extra-dims")
def for_batch_and_heads(T, device=None, dtype=None):
    """The numbers are right and the shape is not (T, T): there are extra axes of size 1. It works
    by broadcasting, but (T, T) was promised, and broadcasting does the rest anyway.

    Look: leave out `unsqueeze`, `view` or `None` indexing.
    """
    return _filled(T, -math.inf, dtype).triu(1)[None, None]


@known("mask-extra-dims")
def for_batch(T, device=None, dtype=None):
    return _filled(T, -math.inf, dtype).triu(1)[None]


@known("wrong-return-shape")
def one_too_small(T, device=None, dtype=None):
    """The mask is not T by T. There is one row for each token that looks and one column for each
    token looked at.

    Look: both sizes are T.
    """
    return _filled(T - 1, -math.inf, dtype).triu(1)


@known("wrong-return-shape")
def one_too_large(T, device=None, dtype=None):
    return _filled(T + 1, -math.inf, dtype).triu(1)


@known("shape-only-stub")
def nothing_hidden(T, device=None, dtype=None):
    """The mask is empty: it has the right shape and hides nothing.

    Look: -inf belongs above the diagonal.
    """
    return _filled(T, 0.0, dtype)


known.sign(
    "mask-wrong-device",
    """The mask is made on the CPU whatever `device` says. On a GPU the next addition fails.

    Look: pass `device=device` on when the tensor is made.
    """,
)
known.sign(
    "stale-cache",
    """A mask that was made before is handed out again, though another T, dtype or device was asked
    for.

    Look: what is remembered between calls, and what it is looked up by? Making it anew is cheap.
    """,
)
