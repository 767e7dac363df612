"""Mistakes in `project(x, q_proj, k_proj, v_proj)`."""

import math
from itertools import combinations, permutations, product

import torch
from torch.nn import functional as F

from attention_lab.check.catalogue.entry import Known

known = Known("project")

SOME = [some for n in (1, 2, 3) for some in combinations(range(3), n)]
ORDER = (0, 1, 2)


def _sources(order):
    """All layers used, in the order given."""
    return lambda x, *layers: tuple(layers[i](x) for i in order)


def _where(some, part):
    """The mistake `part(x, layer)` in some of the three results; the others are right."""
    return lambda x, *layers: tuple(
        part(x, layer) if i in some else layer(x) for i, layer in enumerate(layers)
    )


def _anywhere(part):
    return [_where(some, part) for some in SOME]


@known("shared-projection")
def v_from_k(x, q_proj, k_proj, v_proj):
    """Two of the three results come from the same layer. Queries, keys and values are three
    different views of the same tokens; most often one line was copied and not fully changed.

    Look: which layer makes which result? Each of the three is used once.
    Seen in: yflyzhang/AnnotatedTransformer#1, Khaliladib11/Transformer-from-scratch#3
    """
    return q_proj(x), k_proj(x), k_proj(x)


@known("wrong-return-order")
def keys_last(x, q_proj, k_proj, v_proj):
    """All three results are there, but not in the order q, k, v. The next steps take them by
    position, so a key would be used as a query, and so on.

    Look: the order in the `return` line.
    """
    return q_proj(x), v_proj(x), k_proj(x)


for _order in product(ORDER, repeat=3):
    if _order != ORDER:
        _slug = "wrong-return-order" if set(_order) == set(ORDER) else "shared-projection"
        known.variants(_slug, _sources(_order))


@known("weight-not-transposed")
def weight_as_it_is(x, q_proj, k_proj, v_proj):
    """`nn.Linear` keeps its weight as (out, in) and multiplies by its transpose. Here a weight was
    used as it is; it is square, so no shape complains.

    Look: call the layer itself: it transposes and adds the bias for you.
    Seen in: rasbt/LLMs-from-scratch#857
    """
    return tuple(x @ p.weight + p.bias for p in (q_proj, k_proj, v_proj))


known.variants("weight-not-transposed", *_anywhere(lambda x, p: x @ p.weight + p.bias))
known.variants("weight-not-transposed", *_anywhere(lambda x, p: x @ p.weight))


@known("bias-forgotten")
def no_bias(x, q_proj, k_proj, v_proj):
    """A weight was used without its bias. New layers of `nn.MultiheadAttention` start with zero
    biases, which hides this until training moves them.

    Look: call the layer itself: it transposes and adds the bias for you.
    """
    return tuple(x @ p.weight.T for p in (q_proj, k_proj, v_proj))


known.variants("bias-forgotten", *_anywhere(lambda x, p: x @ p.weight.T))


@known("chained-projection")
def each_from_the_one_before(x, q_proj, k_proj, v_proj):
    """One projection was fed with the result of another. All three read the same x, side by side.

    Look: what goes into each layer? Was a variable overwritten on the way?
    """
    q = q_proj(x)
    k = k_proj(q)
    return q, k, v_proj(k)


def _chained(ways):
    """Each result comes out of its own layer, after the layers on its way."""

    def faulty(x, *layers):
        results = []
        for i, way in enumerate(ways):
            result = x
            for j in (*way, i):
                result = layers[j](result)
            results.append(result)
        return tuple(results)

    return faulty


def _ways(i):
    others = [j for j in ORDER if j != i]
    return [way for n in range(3) for way in permutations(others, n)]


known.variants(
    "chained-projection",
    *(_chained(ways) for ways in product(*map(_ways, ORDER)) if any(ways)),
)


@known("extra-nonlinearity")
def relu_on_all(x, q_proj, k_proj, v_proj):
    """Something non-linear is done to the projections. A query must be free to be negative, and
    scores to be small as well as large; the only nonlinearity of attention is its softmax.

    Look: what happens before and after each layer is called?
    Seen in: CyberZHG/keras-multi-head#8, Kyubyong/transformer#49
    """
    return F.relu(q_proj(x)), F.relu(k_proj(x)), F.relu(v_proj(x))


ACTIVATIONS = (
    F.relu,
    F.gelu,
    lambda x: F.gelu(x, approximate="tanh"),
    F.silu,
    F.leaky_relu,
    lambda x: F.leaky_relu(x, 0.1),
    lambda x: F.leaky_relu(x, 0.2),
    F.elu,
    lambda x: F.elu(x) + 1,
    F.softplus,
    torch.tanh,
    torch.sigmoid,
    lambda x: F.softmax(x, -1),
    lambda x: F.layer_norm(x, x.shape[-1:]),
    lambda x: F.normalize(x, dim=-1),
)
for _bend in ACTIVATIONS:
    known.variants("extra-nonlinearity", *_anywhere(lambda x, p, bend=_bend: bend(p(x))))
    known.variants("extra-nonlinearity", *_anywhere(lambda x, p, bend=_bend: p(bend(x))))


@known("scale-in-wrong-step")
def queries_by_d_model(x, q_proj, k_proj, v_proj):
    """The scale is applied here already. It belongs to the scores, and it is the root of d_head,
    which this step does not know: nothing is split yet.

    Look: return the projections as they are; scale in `attention_scores`.
    Seen in: huggingface/transformers#22444, facebookresearch/XLM#357
    """
    return q_proj(x) / math.sqrt(x.size(-1)), k_proj(x), v_proj(x)


for _factor in (math.sqrt, lambda d_model: 1 / math.sqrt(d_model), lambda d_model: 1 / d_model):
    known.variants(
        "scale-in-wrong-step",
        *_anywhere(lambda x, p, factor=_factor: p(x * factor(x.size(-1)))),
    )


@known("batch-first-confusion")
def time_first(x, q_proj, k_proj, v_proj):
    """Batch and time were swapped: results are (T, B, d_model). Here the batch comes first, all
    the way through.

    Look: is there a `transpose(0, 1)` or `permute` that is not needed?
    Seen in: om-ai-lab/OmDet#19, pytorch/pytorch#63560
    """
    x = x.transpose(0, 1)
    return q_proj(x), k_proj(x), v_proj(x)


known.variants("batch-first-confusion", *_anywhere(lambda x, p: p(x.transpose(0, 1))))


@known("ignores-given-layers")
def input_three_times(x, q_proj, k_proj, v_proj):
    """q, k or v is x itself, or more than one of them: a layer that was given is not used, so
    nothing that it learns could reach the result.

    Look: use the arguments `q_proj`, `k_proj` and `v_proj`; make no new layers.
    """
    return x, x, x


known.variants("ignores-given-layers", *_anywhere(lambda x, p: x))


known.behaviour(
    "ignores-given-layers",
    """A layer that was given has no effect: with other weights in it the results stay the same, so
    nothing that it learns could reach them.

    Look: use the arguments `q_proj`, `k_proj` and `v_proj`; make no new layers.
    """,
)
known.behaviour(
    "wrong-return-shape",
    """The three results do not come back as q, k and v, each of shape (B, T, d_model): they are
    glued together, too few, too many, or reshaped.

    Look: return three tensors, separated by commas, as the layers give them.
    """,
)
