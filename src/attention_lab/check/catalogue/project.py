"""Mistakes in `project(x, q_proj, k_proj, v_proj)`."""

import math

import torch
from torch.nn import functional as F

from attention_lab.check.catalogue.entry import Known

known = Known("project")


@known("shared-projection")
def v_from_k(x, q_proj, k_proj, v_proj):
    """Two of the three results come from the same layer. Queries, keys and values are three
    different views of the same tokens; most often one line was copied and not fully changed.

    Look: which layer makes which result? Each of the three is used once.
    """
    return q_proj(x), k_proj(x), k_proj(x)


@known("shared-projection")
def k_from_q(x, q_proj, k_proj, v_proj):
    return q_proj(x), q_proj(x), v_proj(x)


@known("shared-projection")
def v_from_q(x, q_proj, k_proj, v_proj):
    return q_proj(x), k_proj(x), q_proj(x)


@known("shared-projection")
def k_from_v(x, q_proj, k_proj, v_proj):
    return q_proj(x), v_proj(x), v_proj(x)


@known("shared-projection")
def all_from_q(x, q_proj, k_proj, v_proj):
    return q_proj(x), q_proj(x), q_proj(x)


def _reordered(name, order):
    def faulty(x, q_proj, k_proj, v_proj):
        parts = q_proj(x), k_proj(x), v_proj(x)
        return tuple(parts[i] for i in order)

    faulty.__name__ = name
    return faulty


_swapped = _reordered("q_v_k", (0, 2, 1))
_swapped.__doc__ = """All three results are there, but not in the order q, k, v. The next steps take
them by position, so the wrong one would be asked, matched or averaged.

Look: the order after `return`.
"""
known("wrong-return-order")(_swapped)
for _name, _order in (
    ("k_q_v", (1, 0, 2)),
    ("v_k_q", (2, 1, 0)),
    ("k_v_q", (1, 2, 0)),
    ("v_q_k", (2, 0, 1)),
):
    known("wrong-return-order")(_reordered(_name, _order))


@known("weight-not-transposed")
def weight_as_it_is(x, q_proj, k_proj, v_proj):
    """`nn.Linear` keeps its weight as (out, in) and computes x @ W.T + b. Here W was used without
    the transpose; it is square, so no shape complains.

    Look: call the layer itself, `q_proj(x)`: it does transpose and bias for you.
    """
    return tuple(x @ p.weight + p.bias for p in (q_proj, k_proj, v_proj))


@known("weight-not-transposed")
def weight_as_it_is_without_bias(x, q_proj, k_proj, v_proj):
    return tuple(x @ p.weight for p in (q_proj, k_proj, v_proj))


@known("bias-forgotten")
def no_bias(x, q_proj, k_proj, v_proj):
    """The weights were used and the bias was not: `nn.Linear` computes x @ W.T + b. New layers of
    `nn.MultiheadAttention` start with zero biases, which hides this until training moves them.

    Look: call the layer itself, `q_proj(x)`, or add its `.bias`.
    """
    return tuple(x @ p.weight.T for p in (q_proj, k_proj, v_proj))


@known("chained-projection")
def chained(x, q_proj, k_proj, v_proj):
    """One projection was fed with the result of another. All three read the same x, side by side.

    Look: what goes into `k_proj` and `v_proj`? A variable that was overwritten on the way?
    """
    q = q_proj(x)
    k = k_proj(q)
    return q, k, v_proj(k)


@known("chained-projection")
def chained_all_after_q(x, q_proj, k_proj, v_proj):
    q = q_proj(x)
    return q, k_proj(q), v_proj(q)


@known("chained-projection")
def chained_v_after_k(x, q_proj, k_proj, v_proj):
    k = k_proj(x)
    return q_proj(x), k, v_proj(k)


def _activated(function):
    def faulty(x, q_proj, k_proj, v_proj):
        return tuple(function(p(x)) for p in (q_proj, k_proj, v_proj))

    return faulty


_relu = _activated(F.relu)
_relu.__doc__ = """An activation stands on the projections. They are linear: a query must be free
to be negative, and scores to be small as well as large. The only nonlinearity of attention is its
softmax.

Look: what happens after the layer is called?
"""
known("extra-nonlinearity")(_relu)
for _function in (F.gelu, F.silu, F.leaky_relu, F.elu, torch.tanh, torch.sigmoid):
    known("extra-nonlinearity")(_activated(_function))


@known("scale-in-wrong-step")
def scaled_by_d_model(x, q_proj, k_proj, v_proj):
    """The queries are scaled already here. The scale belongs to the scores, and it is the root of
    d_head, which this step does not know: nothing is split yet.

    Look: return the three projections as they are; scale in `attention_scores`.
    """
    return q_proj(x) / math.sqrt(x.size(-1)), k_proj(x), v_proj(x)


@known("scale-in-wrong-step")
def scaled_inputs(x, q_proj, k_proj, v_proj):
    x = x * math.sqrt(x.size(-1))
    return q_proj(x), k_proj(x), v_proj(x)


@known("batch-first-confusion")
def time_first(x, q_proj, k_proj, v_proj):
    """Batch and time changed places: results are (T, B, d_model). Here the batch comes first, all
    the way through.

    Look: is there a `transpose(0, 1)` or `permute` that is not needed?
    """
    x = x.transpose(0, 1)
    return q_proj(x), k_proj(x), v_proj(x)


@known("wrong-return-shape")
def concatenated(x, q_proj, k_proj, v_proj):
    """The three results are glued into one tensor. They are wanted apart: q, k, v = project(...).

    Look: return three tensors, separated by commas.
    """
    return torch.cat([q_proj(x), k_proj(x), v_proj(x)], dim=-1)


@known("wrong-return-shape")
def flattened(x, q_proj, k_proj, v_proj):
    return tuple(p(x).flatten(0, 1) for p in (q_proj, k_proj, v_proj))


known.sign(
    "ignores-given-layers",
    """The result does not come from the layers that were given, and two calls disagree: new layers
    with new random weights are made on each call, and nothing could ever be learned in them.

    Look: use `q_proj`, `k_proj` and `v_proj`, the arguments.
    """,
)
