"""Mistakes in `masked_softmax(scores, mask=None)`."""

import math

import torch
from torch.nn import functional as F

from attention_lab.check.catalogue.entry import Fitted, Known


def _masked(scores, mask):
    return scores if mask is None else scores + mask


def _softmax(scores):
    return scores.softmax(-1)


def _weights(scores, mask=None, masked=_masked, softmax=_softmax):
    return softmax(masked(scores, mask))


known = Known("masked_softmax", whole=_weights)


def _if_given(change):
    """`change(scores, mask)` if there is a mask."""
    return lambda scores, mask: scores if mask is None else change(scores, mask)


def _blocked(mask):
    return mask < 0


def _replaced(scores, mask, value):
    return scores if mask is None else scores.masked_fill(_blocked(mask), value)


def _filled_with(value):
    """Blocked scores replaced by `value`."""
    return lambda scores, mask: _replaced(scores, mask, value)


def _afterwards(change):
    """A softmax of everything, then `change(weights, mask)` if there is a mask."""

    def faulty(scores, mask=None):
        weights = scores.softmax(-1)
        return weights if mask is None else change(weights, mask)

    return faulty


def _shared_out(powers, eps=0.0):
    return powers / (powers.sum(-1, keepdim=True) + eps)


@known("mask-ignored", part="masked")
def unmasked(scores, mask):
    """The mask changes nothing, or only in some calls: the rows are those of a plain softmax.

    Look: is the result kept and used? `scores + mask` alone makes a new tensor.
    """
    return scores


known.variants(
    "mask-ignored",
    lambda scores, mask: _masked(scores, mask if scores.size(0) > 1 else None),
    lambda scores, mask: _masked(scores, mask if scores.size(1) > 1 else None),
    lambda scores, mask: _masked(scores, mask if scores.size(0) == 1 else None),
    part="masked",
)


@known("mask-after-softmax")
def zeroed_after(scores, mask=None):
    """The mask was applied after softmax. The masked keys had already taken their share of the
    row, so rows no longer sum to 1, or lose digits, or become 0 / 0 where scores are large.

    Look: mask the scores, then take the softmax.
    """
    return _afterwards(lambda weights, mask: weights.masked_fill(_blocked(mask), 0))(scores, mask)


known.variants(
    "mask-after-softmax",
    _afterwards(lambda weights, mask: weights + mask),
    _afterwards(lambda weights, mask: weights * mask),
    _afterwards(lambda weights, mask: (weights + mask).softmax(-1)),
    _afterwards(lambda weights, mask: weights.masked_fill(_blocked(mask), -math.inf)),
    _afterwards(lambda weights, mask: weights.masked_fill(_blocked(mask), -1e9)),
    *(
        _afterwards(lambda w, mask, eps=eps: _shared_out(w.masked_fill(_blocked(mask), 0), eps))
        for eps in (0, 1e-12, 1e-10, 1e-9, 1e-8, 1e-6)
    ),
)


@known("softmax-wrong-dim", part="softmax")
def over_queries(scores):
    """Softmax ran along the wrong axis. Each row is one query that shares its attention among the
    keys: rows must sum to 1, so softmax runs over the last axis.

    Look: `dim`. A softmax without it picks axis 1 here, the heads.
    Seen in: PetrochukM/PyTorch-NLP#2, FudanNLP/fastNLP#254, nerminnuraydogan/vision-transformer#1
    """
    return scores.softmax(-2)


def _powers_over(dims):
    """By hand: the row's largest subtracted, the sum taken over `dims`."""

    def faulty(scores):
        powers = torch.exp(scores - scores.amax(-1, keepdim=True))
        return powers / powers.sum(dims, keepdim=True)

    return faulty


def _over_all_but(axes):
    return lambda scores: scores.flatten(axes).softmax(-1).view_as(scores)


known.variants(
    "softmax-wrong-dim",
    lambda scores: scores.softmax(1),
    lambda scores: scores.softmax(0),
    *(_over_all_but(axes) for axes in (2, 1, 0)),
    *(_powers_over(dims) for dims in (-2, (-2, -1), (0, 1, 2, 3))),
    lambda scores: scores.mT.softmax(-1),
    part="softmax",
)


known.variants(
    "softmax-wrong-dim",
    *(
        lambda scores, mask=None, fill=fill, dim=dim: _replaced(scores, mask, fill).softmax(dim)
        for fill in (-1e9, -1e4, torch.finfo(torch.float32).min)
        for dim in (-2, 1, 0)
    ),
)


@known("sum-without-keepdim", part="softmax")
def shared_out_along_another_axis(scores):
    """A row's sum, or its largest score, has lost its axis. Beside a table it then lines up with
    the columns, or with nothing: every row has to meet its own.

    Look: which shape has the sum? Keep the axis that was summed over, with size 1.
    """
    powers = _powers(scores)
    return powers / powers.sum(-1)


known.variants(
    "sum-without-keepdim",
    lambda scores: scores.exp() / scores.exp().sum(-1),
    lambda scores: _shared_out(torch.exp(scores - scores.amax(-1))),
    lambda scores: (
        torch.exp(scores - scores.amax(-1)) / torch.exp(scores - scores.amax(-1)).sum(-1)
    ),
    part="softmax",
)


@known("mask-fills-zero", part="masked")
def blocked_to_zero(scores, mask):
    """Masked scores were set to 0. exp(0) is 1, so the masked tokens still take part.

    Look: what must a score be so that exp(score) is 0?
    Seen in: hyunwoongko/transformer#10, rasbt/LLMs-from-scratch#279
    """
    return _replaced(scores, mask, 0)


@known("mask-inverted", part="masked")
def open_ones_blocked(scores, mask):
    """Open and closed were mixed up. The mask is additive: 0 marks what may be looked at and -inf
    what may not.

    Look: which cells does your condition pick? Print it for a small mask.
    Seen in: lucidrains/halonet-pytorch#4, open-mmlab/mmdetection#12351
    """
    return scores if mask is None else scores.masked_fill(mask == 0, -math.inf)


known.variants(
    "mask-inverted",
    _if_given(lambda scores, mask: scores.masked_fill(mask == 0, -1e9)),
    _if_given(lambda scores, mask: scores.masked_fill(mask == 0, 0)),
    part="masked",
)


@known("mask-inverted", part="masked")
def mask_as_ones_and_zeros(scores, mask):
    """The mask was read as ones and zeros and turned into another one. It is additive already: 0
    marks what may be looked at and -inf what may not.

    Look: what `1 - mask` is where the mask is 0, and where it is -inf.
    """
    return scores if mask is None else scores + (1 - mask) * -1e9


known.variants(
    "mask-inverted",
    *(
        _if_given(lambda scores, mask, fill=fill: scores + (1 - mask) * fill)
        for fill in (-1e4, torch.finfo(torch.float32).min)
    ),
    part="masked",
)


@known("mask-transposed", part="masked")
def rows_and_columns_swapped(scores, mask):
    """The mask was transposed. It comes in as (query, key), like the scores: its row i says what
    query i may look at.

    Look: add the mask as it is, without `.T`.
    """
    return scores if mask is None else scores + mask.mT


@known("mask-multiplied", part="masked")
def multiplied(scores, mask):
    """Scores were multiplied by the mask. It is additive: times 0 wipes out the open scores, and 0
    times -inf is NaN.

    Look: how do you combine scores and mask?
    """
    return scores if mask is None else scores * mask


known.variants(
    "mask-multiplied",
    _if_given(lambda scores, mask: scores @ mask),
    _if_given(lambda scores, mask: scores * mask.masked_fill(mask == 0, 1)),
    part="masked",
)


@known("mask-sign", part="masked")
def subtracted(scores, mask):
    """The mask came in with the wrong sign: minus -inf is +inf, so the masked tokens take
    all the weight.

    Look: the sign. Closed scores must become very small.
    Seen in: lucidrains/memory-compressed-attention#2
    """
    return scores if mask is None else scores - mask


known.variants("mask-sign", _filled_with(1e9), part="masked")


@known("mask-always-causal", part="masked")
def always_causal(scores, mask=None):
    """A causal mask is applied whether one was given or not. With `mask=None` everybody sees
    everybody.

    Look: use the mask that comes in, and only if one does.
    """
    future = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
    return scores.masked_fill(future, -math.inf)


known.variants(
    "mask-always-causal",
    lambda scores, mask: always_causal(_masked(scores, mask)),
    lambda scores, mask: always_causal(scores) if mask is None else scores + mask,
    part="masked",
)


@known("mask-content-ignored", part="masked")
def own_causal_mask(scores, mask):
    """Whenever a mask is given, a causal one is used instead. Other masks exist: padding, for one.

    Look: use the mask that came in.
    """
    return scores if mask is None else always_causal(scores)


@known("mask-tiny-value", part="masked")
def filled_with_next_to_nothing(scores, mask):
    """Closed scores were replaced by, or lowered by, a number next to 0, most often -1e-9 where
    -1e9 was meant.

    Look: the sign of the exponent.
    Seen in: hyunwoongko/transformer#10, awslabs/gluonts#1401
    """
    return _replaced(scores, mask, -1e-9)


def _lowered_by(value):
    return _if_given(lambda scores, mask: scores + value * _blocked(mask))


TINY = (-1e-9, 1e-9, -1e-10, -1e-8, -1e-6, -1e-5)
known.variants("mask-tiny-value", *map(_filled_with, TINY), *map(_lowered_by, TINY), part="masked")


@known("mask-finite-value", part="masked")
def filled_with_too_small_a_number(scores, mask):
    """Closed scores hold a finite number that is too small: where real scores come near it, the
    closed tokens leak through.

    Look: add the mask as it is, with its -inf.
    Seen in: huggingface/transformers#17306, facebookresearch/fairseq#3575, NVIDIA/apex#93
    """
    return _replaced(scores, mask, -1e4)


SMALL = (-1.0, -2.0, -5.0, -10.0, -20.0)  # larger ones show in large scores only
known.variants(
    "mask-finite-value", *map(_filled_with, SMALL), *map(_lowered_by, SMALL), part="masked"
)


@known("other-base", part="softmax")
def powers_of_two(scores):
    """The exponentials use a base other than e. Their rows sum to 1 as well, but are flatter or
    steeper.

    Look: `exp` uses e.
    """
    return (scores * math.log(2)).softmax(-1)


known.variants(
    "other-base",
    lambda scores: (scores * math.log(10)).softmax(-1),
    lambda scores: _shared_out(2**scores),  # which overflows, too
    lambda scores: _shared_out(10**scores),
    part="softmax",
)


@known("double-scale", part="softmax")
def scaled_by_tokens(scores):
    """The scores were scaled once more before softmax. They come in already divided by
    sqrt(d_head).

    Look: no division here but the one inside softmax.
    Seen in: huggingface/diffusers#929, pytorch/pytorch#109366
    """
    return (scores / math.sqrt(scores.size(-1))).softmax(-1)


def _flattened(factor):
    return lambda scores, mask=None: (_masked(scores, mask) * factor).softmax(-1)


def _factor(trial):
    """What the differences of scores were multiplied by, if it makes them clearly smaller."""
    (got,), scores = trial.got, trial.call.args[0]
    factor = (got.double().log().diff(dim=-1) / scores.double().diff(dim=-1)).nanmedian().item()
    return factor if 0 < factor < 0.75 else None


known.variants("double-scale", Fitted(_flattened, _factor))


@known("not-normalised", part="softmax")
def powers_alone(scores):
    """The exponentials are there but never divided by their sum: rows do not sum to 1.

    Look: what is each row divided by?
    """
    return scores.exp()


known.variants(
    "not-normalised", lambda scores: (scores - scores.amax(-1, keepdim=True)).exp(), part="softmax"
)


@known("hard-attention", part="softmax")
def best_key_only(scores):
    """All weight went to the best key, none to the others. That is argmax; softmax is its smooth
    form, through which gradients flow.

    Look: every open key must get some weight.
    """
    return F.one_hot(scores.argmax(-1), scores.size(-1)).to(scores.dtype)


def _best_keys(scores):
    return (scores == scores.amax(-1, keepdim=True)).to(scores.dtype)


known.variants(
    "hard-attention",  # of equal scores each is the best
    _best_keys,
    lambda scores: _shared_out(_best_keys(scores)),
    part="softmax",
)


@known("sigmoid-instead-of-softmax", part="softmax")
def sigmoid(scores):
    """Each cell went through a sigmoid on its own. Keys must compete for one query's attention: a
    row shares out exactly 1.

    Look: one function of the whole row, not of each cell.
    """
    return torch.sigmoid(scores)


known.variants(
    "sigmoid-instead-of-softmax",
    lambda scores: _shared_out(torch.sigmoid(scores)),
    part="softmax",
)


@known("log-softmax-returned", part="softmax")
def logarithms(scores):
    """What comes back are logarithms of weights: all at most 0. Values are averaged with the
    weights themselves.

    Look: is there a logarithm in your code?
    """
    return scores.log_softmax(-1)


known.variants("log-softmax-returned", lambda scores: scores.softmax(-1).log(), part="softmax")


@known("linear-normalise", part="softmax")
def divided_by_row_sum(scores):
    """Scores were divided by their row's sum or length without exp. Scores can be negative, so such
    weights can be too, and -inf spoils the row.

    Look: the exponential comes first; then divide by the row's sum.
    """
    return _shared_out(scores)


def _of_masked(softmax):
    return lambda scores, mask=None: softmax(_masked(scores, mask))


def _of_open(function):
    """Blocked cells are 0; the others are `function(scores)`, divided by the row's sum."""
    return lambda scores, mask=None: _shared_out(_replaced(function(scores), mask, 0))


known.variants(
    "linear-normalise",
    _of_open(lambda scores: scores),
    _of_open(torch.abs),
    _of_open(torch.relu),
    _of_open(torch.square),
    _of_open(lambda scores: scores - scores.amin(-1, keepdim=True)),
    lambda scores, mask=None: F.normalize(_replaced(scores, mask, 0), p=1, dim=-1),
    lambda scores, mask=None: F.normalize(_replaced(scores, mask, 0), dim=-1),
)
known.variants(
    "linear-normalise",
    lambda scores: _shared_out(torch.relu(scores)),
    lambda scores: F.normalize(scores, dim=-1),
    lambda scores: F.normalize(scores, p=1, dim=-1),
    part="softmax",
)


@known("softmax-eps", part="softmax")
def with_a_guard(scores):
    """A number was added to the weights or below the fraction, so rows do not sum to 1. No such
    guard is needed: with the row's largest score taken off, one exp is 1 and the sum never 0.

    Look: divide by the sum alone.
    """
    return _with_eps(1e-3)(scores)


def _powers(scores):
    """Powers of at most 1."""
    return torch.exp(scores - scores.amax(-1, keepdim=True))


def _with_eps(eps, powers=_powers):
    return lambda scores: _shared_out(powers(scores), eps)


def _with_eps_everywhere(eps):
    return lambda scores: _shared_out(_powers(scores) + eps)


def _added(powers):
    """What was added to the sum of a row's powers."""

    def read(trial):
        rows = powers(_masked(*trial.call.args)).sum(-1).double()
        added = rows * (1 / trial.got[0].double().sum(-1) - 1)
        return added.median().item() if added.min() > 1e-6 else None

    return read


EPS = (1.0, 0.1, 1e-2, 1e-3, 1e-4, 1e-5)
known.variants(
    "softmax-eps",
    Fitted(lambda eps: _of_masked(_with_eps(eps)), _added(_powers)),
    Fitted(lambda eps: _of_masked(_with_eps(eps, torch.exp)), _added(torch.exp)),
)
known.variants(
    "softmax-eps",
    *map(_with_eps_everywhere, EPS),
    *(lambda scores, eps=eps: scores.softmax(-1) + eps for eps in EPS),
    part="softmax",
)


@known("softmax-overflow", part="softmax")
def powers_of_large_numbers(scores):
    """exp of a large score is inf, and inf / inf is NaN; of a very negative row it is 0 / 0.
    Softmax takes the row's own largest score off first, which changes only the size of the numbers.

    Look: what is exp of your largest and of your smallest row?
    Seen in: pytorch/executorch#18407, mila-iqia/blocks#727, prescient-design/e3tools#3
    """
    return _shared_out(torch.exp(scores))


known.variants(
    "softmax-overflow",
    lambda scores: _shared_out(torch.exp(scores - scores.max())),
    lambda scores: _shared_out(torch.exp(scores)).nan_to_num(0),
    lambda scores: _shared_out(torch.exp(scores - scores.max())).nan_to_num(0),
    part="softmax",
)


@known("dtype-changed", part="softmax")
def in_half_precision(scores):
    """The number type changed on the way: what goes in as float32 or float64 has to come out as
    that, and with all its digits.

    Look: is there a `.half()`, `.float()` or a dtype written out?
    Seen in: pytorch/pytorch#21658, huggingface/diffusers#10891
    """
    return scores.half().softmax(-1).to(scores.dtype)


known.variants(
    "dtype-changed",
    lambda scores: scores.bfloat16().softmax(-1).to(scores.dtype),
    lambda scores: scores.softmax(-1).half().to(scores.dtype),
    lambda scores: scores.softmax(-1).bfloat16().to(scores.dtype),
    part="softmax",
)


@known("shape-only-stub", part="softmax")
def as_they_came(scores):
    """The scores come back without a softmax: nothing sums to 1 yet.

    Look: after masking, the row must still be turned into weights.
    """
    return scores


known.variants("shape-only-stub", lambda scores, mask=None: scores)


@known("softmax-twice", part="softmax")
def softmax_of_softmax(scores):
    """Softmax was taken twice. The second one flattens the weights: they lie between 0 and 1, so
    their exponentials are all alike.

    Look: how many times does a softmax or an exp run?
    """
    return scores.softmax(-1).softmax(-1)


def _mask_of_an_earlier_call(fits):
    """Where none is given, the last one is used if it `fits`."""

    def make():
        kept = {}

        def faulty(scores, mask=None):
            kept["mask"] = mask = kept.get("mask") if mask is None else mask
            return _weights(scores, mask if fits(scores, mask) else None)

        return faulty

    return make


known.behaviour(
    "stale-cache",
    """A mask that was given in one call is used in a later one, where none was given.

    Look: what is kept outside the function? Use the mask that comes in, and only if one does.
    """,
)
known.kept(
    "stale-cache",
    _mask_of_an_earlier_call(lambda scores, mask: True),
    _mask_of_an_earlier_call(lambda s, mask: mask is not None and len(mask) == s.size(-1)),
)
known.behaviour(
    "ambiguous-truth-value",
    """A condition asks a whole tensor whether it is true, as `if mask:` does. All you need to ask
    is whether there is a mask.

    Look: the condition in that line; compare the mask with `None`, using `is`.
    """,
)
