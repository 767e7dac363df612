"""Mistakes in `attend(weights, v)`."""

import torch

from attention_lab.check.catalogue.entry import Known, in_other_axes

known = Known("attend")


def _mixed(weights, v):
    return weights @ v


@known("weights-transposed")
def mixed_over_queries(weights, v):
    """The weights were transposed, so the mixture runs over queries. Row i of the weights says how
    much of each value goes into output i.

    Look: use the weights as they come.
    Seen in: nntile/nntile#382, aladdinpersson/Machine-Learning-Collection#165
    """
    return weights.transpose(-2, -1) @ v


@known("values-transposed")
def values_turned(weights, v):
    """The values were transposed. It runs only when T happens to equal d_head; nothing is
    transposed in this step.

    Look: the last two axes of `weights` and of `v`: (T, T) and (T, d_head).
    """
    return weights @ v.mT


@known("softmax-twice")
def softmax_again(weights, v):
    """Softmax was taken again. The weights come in ready; a second softmax makes them nearly equal.

    Look: only the product is left to do.
    """
    return weights.softmax(dim=-1) @ v


known.variants(
    "softmax-twice",
    lambda weights, v: weights.softmax(-2) @ v,
    lambda weights, v: (weights @ v).softmax(-1),
)


@known("double-scale")
def scaled_here_too(weights, v):
    """The mixtures were scaled. The root of d_head belongs to the scores alone: weights sum to 1,
    so a mixture has the size of the values already.

    Look: no division here.
    """
    return weights @ v / v.size(-1) ** 0.5


@known("residual-added")
def values_added(weights, v):
    """The values were added on top of the mixture. A residual connection belongs to the block
    around attention, not into it.

    Look: only the product is left to do.
    """
    return weights @ v + v


@known("sums-over-queries")
def summed_over_queries(weights, v):
    """The sum runs over queries: the result has the letter of the keys. Each query gets one
    mixture, so its letter stays and that of the keys is summed over.

    Look: in einsum, the letters behind the arrow.
    """
    return torch.einsum("bhqk,bhkd->bhkd", weights, v)


@known("ignores-weights")
def plain_mean(weights, v):
    """The weights are not used: outputs are a plain mean or sum of values, or values as they came.

    Look: the mean must be weighted, row by row.
    """
    return v.mean(dim=2, keepdim=True).expand_as(v)


known.variants(
    "ignores-weights",
    lambda weights, v: v,
    lambda weights, v: v.sum(2, keepdim=True).expand_as(v),
    lambda weights, v: v.cumsum(2),
    lambda weights, v: v.cumsum(2) / torch.arange(1.0, v.size(2) + 1)[:, None],
    lambda weights, v: v.mean(2, keepdim=True),
    lambda weights, v: v.sum(2, keepdim=True),
)


@known("hard-attention")
def best_value_only(weights, v):
    """Only the values with the largest weights came through. Attention mixes all values, each by
    its weight.

    Look: a product of matrices, no choice among keys.
    """
    best = weights.argmax(-1, keepdim=True).expand(*weights.shape[:-1], v.size(-1))
    return v.gather(2, best)


known.variants(
    "hard-attention",
    lambda weights, v: weights.amax(-1, keepdim=True) * best_value_only(weights, v),
    lambda weights, v: weights.round() @ v,
    lambda weights, v: (weights > 0.5).to(v.dtype) @ v,
)


@known("heads-mixed")
def values_of_all_heads(weights, v):
    """Heads were mixed. Each head mixes its own values by its own weights; heads meet only in
    out_proj.

    Look: in einsum the head letter must be the same in both arguments and in the result.
    """
    return torch.einsum("bhqk,bgkd->bhqd", weights, v)


known.variants(
    "heads-mixed",
    lambda weights, v: torch.einsum("bgqk,bhkd->bhqd", weights, v),
    lambda weights, v: weights @ v.mean(1, keepdim=True),
    lambda weights, v: weights.mean(1, keepdim=True) @ v,
    lambda weights, v: (weights @ v).sum(1, keepdim=True).expand_as(v),
    lambda weights, v: (weights @ v).mean(1, keepdim=True).expand_as(v),
    lambda weights, v: weights @ v[:, :1],
    lambda weights, v: weights[:, :1] @ v,
    lambda weights, v: weights @ v.flip(1),
)


@known("heads-summed")
def heads_added_up(weights, v):
    """The head axis is gone: heads were added up or averaged. They stay apart until they are
    merged, side by side.

    Look: the result has as many axes as v.
    """
    return torch.einsum("bhqk,bhkd->bqd", weights, v)


known.variants(
    "heads-summed",
    lambda weights, v: (weights @ v).sum(1, keepdim=True),
    lambda weights, v: (weights @ v).mean(1),
    lambda weights, v: (weights @ v).mean(1, keepdim=True),
)


@known("wrong-axis-order")
def values_read_time_first(weights, v):
    """The numbers are there, but in another order of axes than (B, H, T, d_head), or v was read in
    another order than it comes in.

    Look: name the axes of `weights` and `v`; no transpose is needed here.
    Seen in: aladdinpersson/Machine-Learning-Collection#165
    """
    return torch.einsum("bhql,blhd->bhqd", weights, v)


known.variants("wrong-axis-order", *in_other_axes(_mixed, 4))


@known("elementwise-product")
def cell_by_cell(weights, v):
    """The weights were multiplied cell by cell. It runs only when T equals d_head, or by unlucky
    broadcasting. A mixture is a sum over keys: a product of matrices.

    Look: which operator is between the weights and the values?
    """
    return weights * v


known.variants(
    "elementwise-product",
    lambda weights, v: weights.diagonal(dim1=-2, dim2=-1)[..., None] * v,
    lambda weights, v: weights[..., :1] * v,
    lambda weights, v: weights.mean(-1, keepdim=True) * v,
    lambda weights, v: weights.amax(-1, keepdim=True) * v,
    lambda weights, v: weights[..., None] * v[:, :, None],
    lambda weights, v: weights[..., None] * v[:, :, :, None],
)


@known("operands-swapped")
def values_first(weights, v):
    """The operands are swapped. Matrix products do not commute: the rows of the first argument are
    the rows of the result.

    Look: what comes first?
    """
    return v @ weights


known.variants(
    "operands-swapped",
    lambda weights, v: v.mT @ weights,
    lambda weights, v: torch.einsum("bhqk,bhkd->bhqd", v, weights),
)


@known("dtype-changed")
def in_half_precision(weights, v):
    """The number type changed on the way: what goes in as float32 or float64 has to come out as
    that, and with all its digits.

    Look: is there a `.half()`, `.float()` or a dtype written out?
    Seen in: tinygrad/tinygrad#5100, pytorch/pytorch#21658
    """
    return (weights.half() @ v.half()).to(v.dtype)


known.variants(
    "dtype-changed",
    lambda weights, v: (weights.bfloat16() @ v.bfloat16()).to(v.dtype),
    lambda weights, v: weights.half().to(v.dtype) @ v,
    lambda weights, v: (weights @ v).half().to(v.dtype),
)


known.behaviour(
    "returns-extra",
    """More comes back than the one tensor that is wanted: a tuple, a list or a dictionary. The step
    returns the mixtures alone.

    Look: the expression after `return`.
    """,
)
