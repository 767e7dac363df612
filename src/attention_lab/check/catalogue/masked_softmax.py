"""Mistakes in `masked_softmax(scores, mask=None)`."""

import math

import torch
from torch.nn import functional as F

from attention_lab.check.catalogue.entry import Known

known = Known("masked_softmax")


def _masked(scores, mask):
    return scores if mask is None else scores + mask


@known("mask-ignored")
def unmasked(scores, mask=None):
    """The mask changes nothing: the rows are those of a plain softmax.

    Look: where does `mask` appear in your code? Is the masked result the one that is used?
    """
    return scores.softmax(-1)


@known("mask-after-softmax")
def zeroed_after(scores, mask=None):
    """The mask was applied after softmax. Blocked cells are 0, but the other weights had already
    shared the row with them, so rows no longer sum to 1.

    Look: add the mask to the scores, then take the softmax.
    """
    weights = scores.softmax(-1)
    return weights if mask is None else weights.masked_fill(mask < 0, 0.0)


@known("mask-after-softmax")
def added_after(scores, mask=None):
    weights = scores.softmax(-1)
    return weights if mask is None else weights + mask


@known("mask-after-softmax")
def multiplied_after(scores, mask=None):
    weights = scores.softmax(-1)
    return weights if mask is None else weights * mask


@known("mask-after-softmax")
def exponential_after(scores, mask=None):
    weights = scores.softmax(-1)
    return weights if mask is None else weights * mask.exp()


@known("mask-after-softmax")
def zeroed_and_shared_out_again(scores, mask=None):
    weights = zeroed_after(scores, mask)
    return weights / weights.sum(-1, keepdim=True)


def _along(dim):
    def faulty(scores, mask=None):
        return _masked(scores, mask).softmax(dim)

    return faulty


_over_queries = _along(-2)
_over_queries.__doc__ = """Softmax ran along the wrong axis. Each row is one query that shares its
attention among the keys: rows must sum to 1, so softmax runs over the last axis.

Look: `dim=-1`. A softmax without `dim` picks axis 1 here, the heads.
"""
known("softmax-wrong-dim")(_over_queries)
for _dim in (1, 0):
    known("softmax-wrong-dim")(_along(_dim))


@known("softmax-wrong-dim")
def over_the_whole_map(scores, mask=None):
    return _masked(scores, mask).flatten(-2).softmax(-1).view_as(scores)


@known("softmax-wrong-dim")
def over_everything(scores, mask=None):
    return _masked(scores, mask).flatten().softmax(-1).view_as(scores)


@known("mask-fills-zero")
def blocked_to_zero(scores, mask=None):
    """Blocked scores were set to 0. exp(0) is 1, so the blocked tokens still take part.

    Look: what must a score be so that exp(score) is 0?
    """
    return (scores if mask is None else scores.masked_fill(mask < 0, 0.0)).softmax(-1)


@known("mask-inverted")
def open_ones_blocked(scores, mask=None):
    """Open and blocked were mixed up. The mask is additive: 0 marks what may be looked at and -inf
    what may not; `mask == 0` is the allowed part.

    Look: just add the mask; or fill where it is below 0.
    """
    return (scores if mask is None else scores.masked_fill(mask == 0, -math.inf)).softmax(-1)


@known("mask-inverted")
def open_ones_nearly_blocked(scores, mask=None):
    return (scores if mask is None else scores.masked_fill(mask == 0, -1e9)).softmax(-1)


@known("mask-multiplied")
def multiplied(scores, mask=None):
    """Scores were multiplied by the mask. It is additive: times 0 wipes out the open scores, and 0
    times -inf is NaN.

    Look: plus, not times.
    """
    return (scores if mask is None else scores * mask).softmax(-1)


@known("mask-sign")
def subtracted(scores, mask=None):
    """The mask was subtracted: minus -inf is +inf, so the blocked tokens draw everything.

    Look: plus, not minus.
    """
    return (scores if mask is None else scores - mask).softmax(-1)


@known("mask-always-causal")
def always_causal(scores, mask=None):
    """A causal mask is applied whether one was given or not. With `mask=None` everybody sees
    everybody.

    Look: use the mask that comes in, and only if one does.
    """
    blocked = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
    return scores.masked_fill(blocked, -math.inf).softmax(-1)


@known("mask-content-ignored")
def own_causal_mask(scores, mask=None):
    """Whenever a mask is given, a causal one is used instead. Other masks exist: padding, for one.

    Look: add the mask that came in.
    """
    return scores.softmax(-1) if mask is None else always_causal(scores)


@known("mask-tiny-value")
def filled_with_next_to_nothing(scores, mask=None):
    """Blocked scores were replaced by a number next to 0, most often -1e-9 where -1e9 was meant.

    Look: the sign of the exponent; or just add the mask.
    """
    return (scores if mask is None else scores.masked_fill(mask < 0, -1e-9)).softmax(-1)


def _filled_with(value):
    def faulty(scores, mask=None):
        return (scores if mask is None else scores.masked_fill(mask < 0, value)).softmax(-1)

    return faulty


_filled_with_1e4 = _filled_with(-1e4)
_filled_with_1e4.__doc__ = """Blocked scores were replaced by a finite number that is too small:
where real scores come near it, the blocked tokens leak through.

Look: add the mask as it is, with its -inf.
"""
known("mask-finite-value")(_filled_with_1e4)
for _value in (-10.0, -100.0, -1e3, -9999.0):
    known("mask-finite-value")(_filled_with(_value))


@known("double-scale")
def scaled_by_tokens(scores, mask=None):
    """The scores were scaled once more before softmax. They come in already divided by
    sqrt(d_head).

    Look: no division here but the one inside softmax.
    """
    return _masked(scores / math.sqrt(scores.size(-1)), mask).softmax(-1)


@known("double-scale")
def scaled_by_heads(scores, mask=None):
    return _masked(scores / math.sqrt(scores.size(1)), mask).softmax(-1)


@known("hard-attention")
def best_key_only(scores, mask=None):
    """All weight went to the best key, none to the others. That is argmax; softmax is its smooth
    form, through which gradients flow.

    Look: softmax over the last axis.
    """
    return F.one_hot(_masked(scores, mask).argmax(-1), scores.size(-1)).to(scores.dtype)


@known("sigmoid-instead-of-softmax")
def sigmoid(scores, mask=None):
    """Each cell went through a sigmoid on its own. Keys must compete for one query's attention: a
    row shares out exactly 1.

    Look: softmax over the last axis.
    """
    return torch.sigmoid(_masked(scores, mask))


@known("log-softmax-returned")
def logarithms(scores, mask=None):
    """What comes back are logarithms of weights: all at most 0. Values are averaged with the
    weights themselves.

    Look: `softmax`, not `log_softmax`.
    """
    return _masked(scores, mask).log_softmax(-1)


@known("linear-normalise")
def divided_by_row_sum(scores, mask=None):
    """Scores were divided by their row sum without exp. Scores can be negative, so such weights can
    be too, and -inf spoils the row.

    Look: exp first, then divide by the row's sum: that is softmax.
    """
    scores = _masked(scores, mask)
    return scores / scores.sum(-1, keepdim=True)


@known("linear-normalise")
def divided_by_row_sum_of_open(scores, mask=None):
    scores = scores if mask is None else scores.masked_fill(mask < 0, 0.0)
    return scores / scores.sum(-1, keepdim=True)


@known("linear-normalise")
def divided_by_row_length(scores, mask=None):
    return F.normalize(_masked(scores, mask), dim=-1)


def _with_eps(eps):
    def faulty(scores, mask=None):
        scores = _masked(scores, mask)
        powers = torch.exp(scores - scores.amax(-1, keepdim=True))
        return powers / (powers.sum(-1, keepdim=True) + eps)

    return faulty


_with_1e_minus_3 = _with_eps(1e-3)
_with_1e_minus_3.__doc__ = """A small number was added to the denominator, so rows sum to a little
less than 1. The row's largest exp is 1, so the sum can never be 0: no such guard is needed.

Look: divide by the sum alone.
"""
known("softmax-eps")(_with_1e_minus_3)
for _eps in (1e-2, 1e-4, 1e-5, 1.0):
    known("softmax-eps")(_with_eps(_eps))


@known("softmax-eps")
def with_eps_on_plain_powers(scores, mask=None):
    powers = torch.exp(_masked(scores, mask))
    return powers / (powers.sum(-1, keepdim=True) + 1e-3)


@known("softmax-overflow")
def powers_of_large_numbers(scores, mask=None):
    """exp of a large score is inf, and inf / inf is NaN; of a very negative row it is 0 / 0.
    Softmax subtracts the row's largest score first, which changes nothing but the size of the
    numbers.

    Look: `torch.softmax` does it; by hand, subtract `scores.amax(-1, keepdim=True)` before exp.
    """
    powers = torch.exp(_masked(scores, mask))
    return powers / powers.sum(-1, keepdim=True)


@known("softmax-overflow")
def powers_less_the_overall_maximum(scores, mask=None):
    scores = _masked(scores, mask)
    powers = torch.exp(scores - scores.max())
    return powers / powers.sum(-1, keepdim=True)


@known("dtype-changed")
def in_half_precision(scores, mask=None):
    """The number type changed on the way: what goes in as float32 or float64 has to come out as
    that, and with all its digits.

    Look: is there a `.half()`, `.float()` or a dtype written out?
    """
    return _masked(scores, mask).half().softmax(-1).to(scores.dtype)


@known("dtype-changed")
def in_bfloat16(scores, mask=None):
    return _masked(scores, mask).bfloat16().softmax(-1).to(scores.dtype)


@known("shape-only-stub")
def as_they_came(scores, mask=None):
    """The scores come back as they were: no softmax yet.

    Look: add the mask, then softmax over the last axis.
    """
    return scores


@known("shape-only-stub")
def only_masked(scores, mask=None):
    return _masked(scores, mask)


@known("softmax-twice")
def softmax_of_softmax(scores, mask=None):
    """Softmax was taken twice. The second one flattens the weights: they lie between 0 and 1, so
    their exponentials are all alike.

    Look: one softmax, over the last axis.
    """
    return _masked(scores, mask).softmax(-1).softmax(-1)


known.sign(
    "ambiguous-truth-value",
    """`if mask:` asks a whole tensor whether it is true. Only whether there is a mask matters.

    Look: `if mask is not None:`.
    """,
)
