"""Mistakes in the forward pass of `MultiHeadAttention`, beside those of its steps.

A faulty answer is a forward pass here, `faulty(self, x, causal=False)`. Its parts are the steps,
`asked`, whether the mask is on, and `out`, what becomes of the merged heads. The steps' mistakes
are taken over: each is put into an otherwise right forward pass.
"""

import math
from functools import partial
from itertools import product

import torch
from torch.nn import functional as F

from attention_lab.check import steps
from attention_lab.check.catalogue import (
    attend,
    attention_scores,
    causal_mask,
    masked_softmax,
    merge_heads,
    project,
    split_heads,
)
from attention_lab.check.catalogue.entry import Known
from attention_lab.check.steps import STEPS

RIGHT = {name: getattr(steps, name) for name in STEPS if name != "MultiHeadAttention"} | {
    "asked": lambda self, x, causal: causal,
    "out": lambda self, x, merged: self.out_proj(merged),
}


def _forward(self, x, causal=False, **replaced):
    """A forward pass, with some parts replaced."""
    part = RIGHT | replaced
    q, k, v = part["project"](x, self.q_proj, self.k_proj, self.v_proj)
    q, k, v = (part["split_heads"](heads, self.num_heads) for heads in (q, k, v))
    scores = part["attention_scores"](q, k)
    asked = part["asked"](self, x, causal)
    mask = part["causal_mask"](x.shape[1], x.device, x.dtype) if asked else None
    weights = part["masked_softmax"](scores, mask)
    return part["out"](self, x, part["merge_heads"](part["attend"](weights, v)))


def _with(**replaced):
    return partial(_forward, **replaced)


_heads = _with(out=lambda self, x, merged: merged)
known = Known("MultiHeadAttention", whole=_forward)


def _weights(self, x, causal):
    """The weights (B, H, T, T) of a right forward pass."""
    kept = []
    _forward(self, x, causal, attend=lambda weights, v: kept.append(weights) or v)
    return kept[0]


@known("wrong-default")
def causal_by_default(self, x, causal=True):
    """The mask is on when nobody asked for it, or off when somebody did. `causal` is False by
    default, and means what it says.

    Look: the default in the signature, and the condition that the mask depends on.
    """
    return _forward(self, x, causal)


known.variants("wrong-default", lambda self, x, causal: not causal, part="asked")


@known("mask-always-causal", part="asked")
def always(self, x, causal):
    """The future is masked even with `causal=False`.

    Look: what does the mask depend on?
    """
    return True


@known("mask-ignored", part="asked")
def never(self, x, causal):
    """`causal=True` changes nothing, or only in some calls: the future stays visible.

    Look: is the mask made, and is its result the one that is used?
    """
    return False


known.variants(
    "mask-ignored",
    lambda self, x, causal: causal and x.size(0) > 1,
    lambda self, x, causal: causal and x.size(0) == 1,
    lambda self, x, causal: causal and self.num_heads > 1,
    lambda self, x, causal: causal and self.training,
    lambda self, x, causal: causal and not self.training,
    part="asked",
)


@known("missing-out-proj", part="out")
def heads_as_they_are(self, x, merged):
    """The merged heads come back without `out_proj`. Until then each head writes only into its own
    slice; `out_proj` is where heads meet.

    Look: one more layer after merging.
    """
    return merged


@known("another-layer-out", part="out")
def out_by_q_proj(self, x, merged):
    """The merged heads go through another layer than `out_proj`, or through `out_proj` twice. It is
    the one layer that mixes heads, once, at the end.

    Look: the name of the last layer, and how often it is called.
    """
    return self.q_proj(merged)


known.variants(
    "another-layer-out",
    lambda self, x, merged: self.k_proj(merged),
    lambda self, x, merged: self.v_proj(merged),
    lambda self, x, merged: self.out_proj(self.out_proj(merged)),
    part="out",
)


@known("residual-added", part="out")
def input_added(self, x, merged):
    """The input, or another step's result, was added on top. That residual connection belongs to
    the block around attention, not into it.

    Look: what is added before `return`?
    """
    return x + self.out_proj(merged)


known.variants(
    "residual-added",
    lambda self, x, merged: self.out_proj(x + merged),
    lambda self, x, merged: self.out_proj(merged) + merged,
    lambda self, x, merged: F.layer_norm(x + self.out_proj(merged), x.shape[-1:]),
    part="out",
)


@known("residual-added")
def whole_block(self, x, causal=False):
    """This is more than attention: x is normalised first, or added at the end as well. Both belong
    to the block around attention.

    Look: what is done to x before the projections, and what after `out_proj`?
    """
    return x + _forward(self, _normalised(x), causal)


def _normalised(x):
    return F.layer_norm(x, x.shape[-1:])


known.variants(
    "residual-added",
    lambda self, x, causal=False: _forward(self, _normalised(x), causal),
    lambda self, x, causal=False: _normalised(x) + _forward(self, _normalised(x), causal),
    lambda self, x, causal=False: _normalised(x + _forward(self, _normalised(x), causal)),
)


@known("shape-only-stub")
def input_back(self, x, causal=False):
    """Nothing attends yet: what comes back is x, or x through some layers, or numbers that do not
    depend on it.

    Look: project, split, score, mask, softmax, attend, merge, project out.
    """
    return x


known.variants(
    "shape-only-stub",
    lambda self, x, causal=False: self.out_proj(x),
    lambda self, x, causal=False: self.out_proj(self.v_proj(x)),
    lambda self, x, causal=False: self.v_proj(x),
    lambda self, x, causal=False: self.q_proj(x),
)


@known("values-not-used", part="project")
def keys_attended(x, q_proj, k_proj, v_proj):
    """The weights mix the keys, or the queries, where they should mix the values. Keys decide where
    to look; values are what is found there.

    Look: the second argument of the last product, and which layer made it.
    Seen in: Kamichanw/SeekDeeper#9
    """
    return q_proj(x), k_proj(x), k_proj(x)


known.variants(
    "values-not-used",
    lambda x, q, k, v: (q(x), k(x), q(x)),
    part="project",
)


@known("ignores-given-layers", part="project")
def x_itself(x, q_proj, k_proj, v_proj):
    """One of queries, keys and values, or more, is x itself: a layer is left out.

    Look: which variable goes into each product, and was it projected?
    """
    return q_proj(x), k_proj(x), x


known.variants(
    "ignores-given-layers",
    lambda x, q, k, v: (x, k(x), v(x)),
    lambda x, q, k, v: (q(x), x, v(x)),
    lambda x, q, k, v: (x, x, v(x)),
    lambda x, q, k, v: (x, k(x), x),
    lambda x, q, k, v: (q(x), x, x),
    lambda x, q, k, v: (x, x, x),
    part="project",
)


@known("shared-projection", part="project")
def queries_as_keys(x, q_proj, k_proj, v_proj):
    """Two of queries, keys and values are the same: they come from one layer, or one of them was
    used twice. The three are different views of the same tokens.

    Look: which layer makes which, and which two go into each product?
    Seen in: yflyzhang/AnnotatedTransformer#1, Khaliladib11/Transformer-from-scratch#3
    """
    return q_proj(x), q_proj(x), v_proj(x)


@known("chained-projection", part="project")
def each_from_the_one_before(x, q_proj, k_proj, v_proj):
    """One projection was fed with the result of another. All three read the same x, side by side.

    Look: what goes into each layer? Was a variable overwritten on the way?
    """
    q = q_proj(x)
    k = k_proj(q)
    return q, k, v_proj(k)


known.variants(
    "chained-projection",
    lambda x, q, k, v: (q(x), k(q(x)), v(q(x))),
    lambda x, q, k, v: (q(x), k(q(x)), v(x)),
    lambda x, q, k, v: (q(x), k(x), v(k(x))),
    lambda x, q, k, v: (q(x), k(x), v(q(x))),
    part="project",
)


@known("every-head-same-slice")
def keys_and_values_of_one_head(self, x, causal=False):
    """All heads look at the keys, or mix the values, of one and the same head. Each head has its
    own slice of all three, queries, keys and values.

    Look: what k and v are cut into, and whether one of them is repeated.
    """
    return _sharing(False, True, True)(self, x, causal)


def _sharing(*is_shared):
    """The first head of some of q, k and v stands for all heads."""

    def faulty(self, x, causal=False):
        waiting = iter(is_shared)

        def split(x, num_heads):
            heads = steps.split_heads(x, num_heads)
            return heads[:, :1].expand_as(heads) if next(waiting) else heads

        return _forward(self, x, causal, split_heads=split)

    return faulty


known.variants(
    "every-head-same-slice",
    *(_sharing(*some) for some in product((False, True), repeat=3) if any(some)),
)


@known("qkv-interleaved")
def cut_head_by_head(self, x, causal=False):
    """Queries, keys and values were joined, all queries first, and then cut as if each head had its
    three parts side by side. So heads hold pieces of the wrong kind.

    Look: the order of the sizes that the joined axis is cut into: first the three kinds.
    """
    return _joined(lambda self: (self.num_heads, 3, self.d_head), 1)(self, x, causal)


def _joined(sizes, of_kinds):
    """q, k and v side by side, cut into `sizes(self)`, of which one tells the kinds apart."""

    def faulty(self, x, causal=False):
        def project(x, *layers):
            joined = torch.cat([layer(x) for layer in layers], dim=-1)
            parts = joined.unflatten(-1, sizes(self)).unbind(x.dim() - 1 + of_kinds)
            return [part.flatten(2) for part in parts]

        return _forward(self, x, causal, project=project)

    return faulty


known.variants(
    "qkv-interleaved",
    _joined(lambda self: (self.num_heads, self.d_head, 3), 2),
    _joined(lambda self: (self.d_head, 3, self.num_heads), 1),
)


@known("single-head-only", part="split_heads")
def one_big_head(x, num_heads):
    """All features form one big head; `num_heads` is not used. One softmax row is one mixture: H
    heads can look at H things at once.

    Look: split before the scores, merge after attending.
    """
    return x[:, None]


def one_big_head_scaled_by_d_head(self, x, causal=False):
    return _forward(
        self,
        x,
        causal,
        split_heads=lambda x, num_heads: x[:, None],
        attention_scores=lambda q, k: q @ k.mT / math.sqrt(self.d_head),
    )


known.variants("single-head-only", one_big_head_scaled_by_d_head)


def _view_in(x, num_heads):
    return x.reshape(x.size(0), num_heads, x.size(1), -1)


def _view_out(x):
    return x.reshape(x.size(0), x.size(2), -1)


@known("view-instead-of-transpose")
def view_in_view_out(self, x, causal=False):
    """Heads were cut by a `view` straight to (B, H, T, d_head). A view moves no number, so each
    head holds some of the tokens; a view back undoes it, so that a round trip looks fine.

    Look: split one tensor whose cells you can tell apart, and print head 0.
    Seen in: hyunwoongko/transformer#15, jadore801120/attention-is-all-you-need-pytorch#177
    """
    return _forward(self, x, causal, split_heads=_view_in, merge_heads=_view_out)


def _some_by_view(*is_view):
    """Only some of q, k and v are cut by a view."""

    def faulty(self, x, causal=False):
        parts = iter([_view_in if view else steps.split_heads for view in is_view])
        return _forward(self, x, causal, split_heads=lambda *args: next(parts)(*args))

    return faulty


known.variants(
    "view-instead-of-transpose",
    _with(split_heads=_view_in, merge_heads=_view_out),
    *(_some_by_view(*some) for some in product((False, True), repeat=3) if any(some)),
)


@known("head-interleaving")
def interleaved_in_and_out(self, x, causal=False):
    """Features were dealt to the heads like cards. Head h owns a run of d_head neighbours: rows
    h*d_head up to (h+1)*d_head - 1 of each projection's weight.

    Look: the order (H, d_head) when the last axis is cut, and again when it is joined.
    Seen in: jadore801120/attention-is-all-you-need-pytorch#120, awslabs/slapo#46
    """
    return _forward(
        self,
        x,
        causal,
        split_heads=lambda x, H: x.unflatten(-1, (-1, H)).permute(0, 3, 1, 2),
        merge_heads=lambda x: x.permute(0, 2, 3, 1).flatten(2),
    )


@known("split-by-d-head")
def width_for_number(self, x, causal=False):
    """d_head is where the number of heads belongs, so there are d_head heads of H features.

    Look: the two sizes that the last axis is cut into, or what `split_heads` is given.
    """
    return _forward(self, x, causal, split_heads=lambda x, H: steps.split_heads(x, self.d_head))


def width_for_number_and_scaled_by_d_head(self, x, causal=False):
    return _forward(
        self,
        x,
        causal,
        split_heads=lambda x, num_heads: steps.split_heads(x, self.d_head),
        attention_scores=lambda q, k: q @ k.mT / math.sqrt(self.d_head),
    )


known.variants("split-by-d-head", width_for_number_and_scaled_by_d_head)


@known("k-reshaped-not-transposed")
def keys_cut_by_view(self, x, causal=False):
    """`view` or `reshape` to (B, H, d_head, T) gives the shape of transposed keys and scrambles
    their numbers: it reads them in the old order and only cuts differently.

    Look: which operation swaps axes? `reshape` and `view` never do.
    """
    parts = iter((steps.split_heads, _keys_cut, steps.split_heads))
    return _forward(
        self,
        x,
        causal,
        split_heads=lambda *args: next(parts)(*args),
        attention_scores=lambda q, k: q @ k / math.sqrt(self.d_head),
    )


def _keys_cut(x, num_heads):
    return x.reshape(x.size(0), num_heads, -1, x.size(1))


@known("splits-time-not-features")
def time_cut_in_and_out(self, x, causal=False):
    """The time axis was cut, so each head gets some of the tokens. Each head sees all tokens, and
    some features of each.

    Look: which axis is cut? It is the last one, of size d_model.
    """
    return _forward(
        self,
        x,
        causal,
        split_heads=lambda x, H: x.unflatten(1, (H, -1)),
        merge_heads=lambda x: x.flatten(1, 2),
    )


@known("missing-head-transpose")
def heads_attend_to_heads(self, x, causal=False):
    """H was not brought before T, so each token's heads attended to one another, and no token saw
    any other.

    Look: scores must be (B, H, T, T): which axes does the product run over?
    """
    return _forward(
        self,
        x,
        causal,
        split_heads=lambda x, H: x.unflatten(-1, (H, -1)),
        causal_mask=lambda T, device, dtype: steps.causal_mask(self.num_heads, device, dtype),
        merge_heads=lambda x: x.flatten(2),
    )


def heads_attend_to_heads_under_the_tokens_mask(self, x, causal=False):
    """It raises with a mask unless H equals T."""
    return _forward(
        self,
        x,
        causal,
        split_heads=lambda x, H: x.unflatten(-1, (H, -1)),
        merge_heads=lambda x: x.flatten(2),
    )


known.variants("missing-head-transpose", heads_attend_to_heads_under_the_tokens_mask)


@known("batch-first-confusion")
def batch_attended(self, x, causal=False):
    """Batch and time were swapped: x was read as (T, B, d_model), as `nn.MultiheadAttention` does
    without `batch_first=True`, or given back so. Here the batch comes first.

    Look: which axis do you call T?
    Seen in: pytorch/pytorch#63560, om-ai-lab/OmDet#19, raoyongming/DenseCLIP#55
    """
    return _forward(self, x.transpose(0, 1), causal).transpose(0, 1)


known.variants(
    "batch-first-confusion",
    lambda self, x, causal=False: _forward(self, x, causal).transpose(0, 1),
    lambda self, x, causal=False: _forward(self, x.transpose(0, 1), causal),
)


@known("bias-forgotten", part="out")
def out_without_bias(self, x, merged):
    """A layer's weight was used without its bias. New layers of `nn.MultiheadAttention` start with
    zero biases, which hides this until training moves them.

    Look: call the layers themselves.
    """
    return merged @ self.out_proj.weight.T


known.variants("bias-forgotten", _with(project=project.no_bias, out=out_without_bias))


@known("weight-not-transposed", part="out")
def out_weight_as_it_is(self, x, merged):
    """`nn.Linear` keeps its weight as (out, in) and multiplies by its transpose. Here a weight was
    used as it is; it is square, so no shape complains.

    Look: call the layer itself.
    """
    return merged @ self.out_proj.weight + self.out_proj.bias


@known("extra-nonlinearity", part="out")
def relu_on_the_way_out(self, x, merged):
    """Something non-linear is done before or after a layer. The one nonlinearity of attention is
    its softmax.

    Look: what happens before and after each layer?
    """
    return F.relu(self.out_proj(merged))


for _bend in project.ACTIVATIONS:
    known.variants(
        "extra-nonlinearity",
        lambda self, x, merged, bend=_bend: bend(self.out_proj(merged)),
        lambda self, x, merged, bend=_bend: self.out_proj(bend(merged)),
        part="out",
    )


for _bend in project.ACTIVATIONS:
    known.variants(
        "extra-nonlinearity",
        _with(
            project=lambda x, *layers, bend=_bend: [bend(layer(x)) for layer in layers],
            out=lambda self, x, merged, bend=_bend: bend(self.out_proj(merged)),
        ),
    )


@known("scale-after-softmax")
def weights_divided(self, x, causal=False):
    """The weights are divided by a root, after softmax. Then rows no longer sum to 1. The root
    belongs to the scores, before softmax.

    Look: which line comes first, the division or the softmax?
    """
    return _dividing_weights(lambda q, k: q @ k.mT)(self, x, causal)


def _dividing_weights(scores):
    def faulty(self, x, causal=False):
        def softmax(scores, mask):
            return steps.masked_softmax(scores, mask) / math.sqrt(self.d_head)

        return _forward(self, x, causal, attention_scores=scores, masked_softmax=softmax)

    return faulty


known.variants("scale-after-softmax", _dividing_weights(steps.attention_scores))


@known("returns-weights")
def weights_alone(self, x, causal=False):
    """The attention weights come back. They say where each token looked; the result is what it
    found there, after `out_proj`.

    Look: go on: attend, merge, project out.
    """
    return _weights(self, x, causal)


known.variants(
    "returns-weights",
    lambda self, x, causal=False: _weights(self, x, causal).mean(1),
    lambda self, x, causal=False: _weights(self, x, causal).sum(1),
)


@known("scale-by-d-model")
def by_root_of_width(self, x, causal=False):
    """Scores are divided by a root of d_model. Each head multiplies vectors of length d_head, so
    the scale is sqrt(d_head).

    Look: which size is `x.size(-1)`?
    Seen in: lucidrains/vit-pytorch#65, chelsea0x3b/dfdx#171, omihub777/ViT-CIFAR#11
    """
    return _with(attention_scores=lambda q, k: q @ k.mT / math.sqrt(x.size(-1)))(self, x, causal)


@known("mask-of-batch-size")
def mask_of_batch_by_batch(self, x, causal=False):
    """The mask is (B, B) and the scores are (B, H, T, T): it was made for the size of the batch.

    Look: which axis of x is T?
    """
    return _with(causal_mask=lambda *args: steps.causal_mask(x.shape[0]))(self, x, causal)


@known("mask-of-head-count")
def mask_of_head_by_head(self, x, causal=False):
    """The mask is (H, H) and the scores are (B, H, T, T): once the heads are split, the second size
    is the number of heads.

    Look: which axis is T after the split?
    """
    return _with(causal_mask=lambda *args: steps.causal_mask(self.num_heads))(self, x, causal)


@known("mask-broadcast-batch-heads")
def mask_of_batch(self, x, causal=False):
    """The mask has the shape (B, T, T). Beside scores of (B, H, T, T) its first axis lines up
    with the heads, not with the batch: it fails, or works by chance when B equals H.

    Look: (T, T) is enough; else give it an axis for the heads.
    Seen in: lucidrains/vit-pytorch#71, hyunwoongko/transformer#32
    """
    mask = {"causal_mask": lambda *args: steps.causal_mask(*args).repeat(x.shape[0], 1, 1)}
    return _forward(self, x, causal, **mask)


@known("mask-fills-zero", part="masked_softmax")
def scores_cut_to_a_triangle(scores, mask):
    """Masked scores became 0, by filling, by `tril` or by a product with zeros and ones. exp(0) is
    1: the future still takes part.

    Look: what must a score be so that exp(score) is 0?
    Seen in: jadore801120/attention-is-all-you-need-pytorch#16, rasbt/LLMs-from-scratch#279
    """
    return (scores if mask is None else scores.tril()).softmax(-1)


def _rows_lost(blocked, fill):
    """Blocked scores are filled with a finite number, also in rows where nothing is open."""

    def softmax(scores, mask):
        if mask is not None:
            scores = scores.masked_fill(blocked(torch.ones_like(scores)).bool(), fill)
        return scores.softmax(-1).nan_to_num(0)

    return softmax


@known("softmax-missing", part="masked_softmax")
def scores_as_weights(scores, mask):
    """Scores are used as weights: no softmax is taken. Scores can be negative, and a row of them
    does not sum to 1.

    Look: what has to happen between the masked scores and the values?
    """
    return scores if mask is None else scores + mask


known.variants(
    "softmax-missing",
    lambda scores, mask: scores,
    lambda scores, mask: scores if mask is None else scores * (mask == 0),
    lambda scores, mask: scores if mask is None else scores.masked_fill(mask < 0, -1e9),
    part="masked_softmax",
)


@known("heads-averaged", part="attend")
def weights_averaged(weights, v):
    """Heads, or their weights, were averaged. They belong side by side: what each found is kept,
    and out_proj decides how to mix it.

    Look: no mean over the head axis.
    Seen in: broadinstitute/CellCap#40
    """
    return weights.mean(1, keepdim=True) @ v


for _slug, _text in {
    "returns-extra": """More comes back than the one tensor that is wanted, (B, T, d_model): a
        tuple, a list or a dictionary.

        Look: the expression after `return`; keep weights in an attribute if you want to see them.
        """,
    "shared-projection": """Two of the four layers are one and the same: what is written into one of
        them is in the other as well, and they would learn together.

        Look: how the four are made. A layer that is assigned twice, or a list that is multiplied,
        is still one layer.
        """,
    "wrong-default": """`causal` must always be given: it has no default, or one that does not work.
        It is False unless somebody asks for more.

        Look: the default in the signature of `forward`.
        """,
    "interface-changed": """One of the four layers that the class is given is gone or of another
        size. Checks write their own numbers into `q_proj`, `k_proj`, `v_proj` and `out_proj`.

        Look: leave `__init__` as it was; write `forward`.
        """,
    "stale-cache": """Something made in one call is used in a later one, where it does not fit:
        a first call is right, later ones are not.

        Look: what is kept in `self` or outside? Make it in `forward`, a mask from the T of this x.
        Seen in: facebookresearch/xformers#655, facebookresearch/xformers#66
        """,
    "ignores-given-layers": """One of the four layers has no effect: with other weights in it the
        result stays the same, so what it learns could never reach it.

        Look: use `self.q_proj`, `self.k_proj`, `self.v_proj` and `self.out_proj`.
        """,
    "tampers-with-checker": """Some of torch's own comparisons were replaced. The checks here do
        not use them.

        Look: restart the kernel, and leave torch's functions as they are.
        """,
    "wrong-return-order": """q, k and v are all there, but not each in its place. Queries meet keys
        in the scores; the weights then mix values.

        Look: which two of q, k and v make the scores, which one is mixed, and in what order
        `project` returns them.
        """,
    "mask-wrong-device": """The mask is made on the CPU wherever x lives. On a GPU the next
        operation with it fails.

        Look: `device` when the mask is made.
        Seen in: mlverse/torch#1473, InfiniTensor/llaisys#11
        """,
}.items():
    known.behaviour(_slug, _text)

# Steps' mistakes that mean something else, or nothing, inside a class.
LEFT_OUT = {
    "scale-in-wrong-step",
    "compared-with-itself",
    "chained-projection",
    "does-next-step-too",
    "ignores-given-layers",
    "shape-only-stub",
    "batch-one-only",
    "mask-extra-dims",
    "mask-transposed",
    "mask-multiplied",
    "mask-wrong-dtype",
    "wrong-axis-order",
    "wrong-return-shape",
    "returns-extra",
    "rounded-scores",
}
for _step in (
    attention_scores, split_heads, merge_heads, causal_mask, masked_softmax, attend, project,
):  # fmt: skip
    known.take_over(
        _step.known,
        without=LEFT_OUT,
        changed=lambda faulty, step=_step.known.step: _with(**{step: faulty}),
    )

for _fill in (-1e9, torch.finfo(torch.float32).min, -math.inf):
    known.variants("mask-diagonal-zero", _rows_lost(torch.triu, _fill), part="masked_softmax")
    known.variants("mask-inverted", _rows_lost(torch.tril, _fill), part="masked_softmax")


# --- a stranger's layer, mended ---

mended = Known("MendedAttention")
mended.take_over(known, changed=lambda faulty: faulty)
