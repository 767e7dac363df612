"""Mistakes in `attend(weights, v)`."""

import torch

from attention_lab.check.catalogue.entry import Known

known = Known("attend")


@known("weights-transposed")
def mixed_over_queries(weights, v):
    """The weights were transposed, so the mixture runs over queries. Row i of the weights says how
    much of each value goes into output i.

    Look: `weights @ v`, as they are.
    """
    return weights.transpose(-2, -1) @ v


@known("softmax-twice")
def softmax_again(weights, v):
    """Softmax was taken again. The weights come in ready; a second softmax makes them nearly equal.

    Look: only the product is left to do.
    """
    return weights.softmax(dim=-1) @ v


@known("ignores-weights")
def plain_mean(weights, v):
    """Every output is the plain mean of the values: the weights are not used.

    Look: the mean must be weighted, row by row.
    """
    return v.mean(dim=2, keepdim=True).expand_as(v)


@known("ignores-weights")
def values_as_they_are(weights, v):
    return v


@known("ignores-weights")
def plain_sum(weights, v):
    return v.sum(dim=2, keepdim=True).expand_as(v)


@known("hard-attention")
def best_value_only(weights, v):
    """Only the value with the largest weight came through. Attention mixes all values, each by its
    weight.

    Look: a product of matrices, no argmax.
    """
    best = weights.argmax(-1, keepdim=True).expand(*weights.shape[:-1], v.size(-1))
    return v.gather(2, best)


@known("heads-mixed")
def values_of_all_heads(weights, v):
    """Values of all heads were added up. Each head mixes its own values; heads meet only in
    out_proj.

    Look: in einsum the head letter must be the same in both arguments.
    """
    return torch.einsum("bhqk,bgkd->bhqd", weights, v)


@known("heads-mixed")
def weights_of_all_heads(weights, v):
    return torch.einsum("bgqk,bhkd->bhqd", weights, v)


@known("heads-summed")
def heads_added_up(weights, v):
    """The head axis is gone: heads were added up. They stay apart until they are merged, side by
    side.

    Look: the result has as many axes as v.
    """
    return torch.einsum("bhqk,bhkd->bqd", weights, v)


@known("wrong-axis-order")
def time_before_heads(weights, v):
    """The numbers are there, in another order of axes than (B, H, T, d_head), or v was read in
    another order than it comes in.

    Look: name the axes of `weights` and `v`; no transpose is needed here.
    """
    return (weights @ v).transpose(1, 2)


@known("wrong-axis-order")
def values_read_time_first(weights, v):
    return torch.einsum("bhql,blhd->bhqd", weights, v)


@known("wrong-axis-order")
def features_before_time(weights, v):
    return (weights @ v).transpose(2, 3)


@known("elementwise-product")
def cell_by_cell(weights, v):
    """The weights were multiplied cell by cell, with `*`. It runs only when T equals d_head, or
    with the wrong broadcasting. A mixture is a sum over keys: a product of matrices.

    Look: `@`, not `*`.
    """
    return weights * v


@known("elementwise-product")
def row_sums_times_values(weights, v):
    return weights.sum(-1, keepdim=True) * v


@known("elementwise-product")
def own_weight_only(weights, v):
    return weights.diagonal(dim1=-2, dim2=-1)[..., None] * v


@known("operands-swapped")
def values_first(weights, v):
    """The product was taken the other way round, v @ weights. Products of matrices do not commute:
    the rows of the first argument are the rows of the result.

    Look: weights first.
    """
    return v @ weights


@known("operands-swapped")
def values_transposed_first(weights, v):
    return (v.transpose(-2, -1) @ weights).transpose(-2, -1)


@known("returns-extra")
def weights_as_well(weights, v):
    """More than one thing comes back. The step returns the mixtures alone.

    Look: what stands after `return`.
    """
    return weights @ v, weights


@known("dtype-changed")
def in_half_precision(weights, v):
    """The number type changed on the way: what goes in as float32 or float64 has to come out as
    that, and with all its digits.

    Look: is there a `.half()`, `.float()` or a dtype written out?
    """
    return (weights.half() @ v.half()).to(v.dtype)


@known("dtype-changed")
def in_bfloat16(weights, v):
    return (weights.bfloat16() @ v.bfloat16()).to(v.dtype)
