"""Mistakes in the forward pass of `MultiHeadAttention`, beside those of its steps.

The step's mistakes are taken over: each is put into an otherwise right forward pass.
"""

import math
from functools import partial

import torch
from torch import nn

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
from attention_lab.check.catalogue.entry import Known, Misconception

RIGHT = {name: getattr(steps, name) for name in vars(steps) if name in (
    "project", "split_heads", "attention_scores", "causal_mask", "masked_softmax", "attend",
    "merge_heads",
)}  # fmt: skip


class _Attention(nn.Module):
    def __init__(self, d_model, num_heads, forward):
        super().__init__()
        self.num_heads, self.d_head = num_heads, d_model // num_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.out_proj = nn.Linear(d_model, d_model)
        self._forward = forward

    def forward(self, *args):
        return self._forward(self, *args)


def _class_of(forward):
    """A class with the lesson's interface whose forward pass is `forward(module, x, causal)`."""
    return type("Faulty", (_Attention,), {"__init__": _init_with(forward)})


def _init_with(forward):
    def __init__(self, d_model, num_heads):  # noqa: N807
        _Attention.__init__(self, d_model, num_heads, forward)

    return __init__


class _KnownForward(Known):
    """As `Known`, for functions that are a forward pass."""

    def __call__(self, slug):
        add = super().__call__(slug)
        return lambda forward: add(_with_doc(_class_of(forward), forward)) and forward


def _with_doc(cls, forward):
    cls.__doc__ = forward.__doc__
    return cls


known = _KnownForward("MultiHeadAttention")


def _heads(self, x, causal, **replaced):
    """A forward pass up to the merged heads, with some steps replaced."""
    take = {**RIGHT, **replaced}
    q, k, v = take["project"](x, self.q_proj, self.k_proj, self.v_proj)
    q, k, v = (take["split_heads"](part, self.num_heads) for part in (q, k, v))
    scores = take["attention_scores"](q, k)
    mask = take["causal_mask"](x.shape[1], x.device, x.dtype) if causal else None
    weights = take["masked_softmax"](scores, mask)
    return take["merge_heads"](take["attend"](weights, v))


def _forward(self, x, causal=False, **replaced):
    return self.out_proj(_heads(self, x, causal, **replaced))


# Steps' mistakes that mean something else, or nothing, inside a class.
LEFT_OUT = {"scale-in-wrong-step", "wrong-return-shape", "mask-extra-dims", "returns-extra"}


def _taken_over():
    modules = (
        attention_scores, split_heads, merge_heads, causal_mask, masked_softmax, attend, project,
    )  # fmt: skip
    for module in modules:
        for entry in module.known.entries:
            if entry.faulty and entry.slug not in LEFT_OUT:
                forward = partial(_forward, **{module.known.step: entry.faulty})
                yield Misconception(
                    entry.slug, known.step, entry.means, entry.look, entry.seen_in,
                    _class_of(forward),
                )  # fmt: skip


@known("wrong-default")
def causal_by_default(self, x, causal=True):
    """The mask is on when nobody asked for it: `causal` is False by default, and means what it
    says.

    Look: the default in the signature, and the condition that the mask hangs on.
    """
    return _forward(self, x, causal)


@known("wrong-default")
def flag_inverted(self, x, causal=False):
    return _forward(self, x, not causal)


@known("mask-always-causal")
def mask_always(self, x, causal=False):
    """The future is hidden even with `causal=False`.

    Look: what does the mask hang on?
    """
    return _forward(self, x, True)


@known("mask-ignored")
def mask_never(self, x, causal=False):
    """`causal=True` changes nothing: the future stays visible.

    Look: is the mask made, and is it passed on to the softmax?
    """
    return _forward(self, x, False)


@known("missing-out-proj")
def heads_as_they_are(self, x, causal=False):
    """The merged heads come back without `out_proj`. Until then each head writes only into its own
    slice; `out_proj` is where heads meet.

    Look: one more layer after merging.
    """
    return _heads(self, x, causal)


@known("residual-added")
def input_added(self, x, causal=False):
    """The input was added to the result. That residual connection belongs to the block around
    attention, not into it.

    Look: what is added before `return`?
    """
    return x + _forward(self, x, causal)


@known("values-not-used")
def keys_attended(self, x, causal=False):
    """The weights mix the keys, or the queries, where they should mix the values. Keys decide where
    to look; values are what is found there.

    Look: the second argument of the last product.
    """
    return _forward(self, x, causal, project=lambda x, q, k, v: (q(x), k(x), k(x)))


@known("values-not-used")
def queries_attended(self, x, causal=False):
    return _forward(self, x, causal, project=lambda x, q, k, v: (q(x), k(x), q(x)))


@known("values-not-used")
def input_attended(self, x, causal=False):
    return _forward(self, x, causal, project=lambda x, q, k, v: (q(x), k(x), x))


@known("single-head-only")
def one_big_head(self, x, causal=False):
    """All features form one big head; `num_heads` is not used. One softmax row is one mixture: H
    heads can look at H things at once.

    Look: split before the scores, merge after attending.
    """
    whole = {"split_heads": lambda x, num_heads: x[:, None]}
    return _forward(self, x, causal, **whole)


@known("single-head-only")
def one_big_head_scaled_by_d_head(self, x, causal=False):
    whole = {
        "split_heads": lambda x, num_heads: x[:, None],
        "attention_scores": lambda q, k: q @ k.mT / math.sqrt(self.d_head),
    }
    return _forward(self, x, causal, **whole)


@known("view-instead-of-transpose")
def view_in_view_out(self, x, causal=False):
    """Heads were split by a `view` straight to (B, H, T, d_head) and merged by one back: the two
    undo each other, so a round trip looks fine, but in between each head holds some of the
    tokens.

    Look: split with `view(B, T, H, d_head).transpose(1, 2)`.
    """
    return _forward(
        self,
        x,
        causal,
        split_heads=lambda x, H: x.reshape(x.size(0), H, x.size(1), -1),
        merge_heads=lambda x: x.reshape(x.size(0), x.size(2), -1),
    )


@known("head-interleaving")
def interleaved_in_and_out(self, x, causal=False):
    """Features were dealt to the heads like cards. Head h owns a run of d_head neighbours: rows
    h*d_head to (h+1)*d_head of each projection's weight.

    Look: the order (H, d_head) when the last axis is cut, and again when it is joined.
    """
    return _forward(
        self,
        x,
        causal,
        split_heads=lambda x, H: x.unflatten(-1, (-1, H)).permute(0, 3, 1, 2),
        merge_heads=lambda x: x.permute(0, 2, 3, 1).flatten(2),
    )


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

    Look: scores must be (B, H, T, T): swap T and H after the cut.
    """
    return _forward(
        self,
        x,
        causal,
        split_heads=lambda x, H: x.unflatten(-1, (H, -1)),
        causal_mask=lambda T, device, dtype: steps.causal_mask(self.num_heads, device, dtype),
        merge_heads=lambda x: x.flatten(2),
    )


@known("batch-first-confusion")
def batch_attended(self, x, causal=False):
    """Attention ran across the batch: x was read as (T, B, d_model), as `nn.MultiheadAttention`
    does without `batch_first=True`. Here the batch comes first.

    Look: which axis do you call T?
    """
    return _forward(self, x.transpose(0, 1), causal).transpose(0, 1)


@known("batch-first-confusion")
def time_first_out(self, x, causal=False):
    return _forward(self, x, causal).transpose(0, 1)


@known("bias-forgotten")
def no_bias_in(self, x, causal=False):
    """A layer's weight was used without its bias. New layers of `nn.MultiheadAttention` start with
    zero biases, which hides this until training moves them.

    Look: call the layers themselves.
    """
    return _forward(self, x, causal, project=lambda x, *layers: [x @ p.weight.T for p in layers])


@known("bias-forgotten")
def no_bias_out(self, x, causal=False):
    return _heads(self, x, causal) @ self.out_proj.weight.T


@known("bias-forgotten")
def no_bias_at_all(self, x, causal=False):
    merged = _heads(self, x, causal, project=lambda x, *layers: [x @ p.weight.T for p in layers])
    return merged @ self.out_proj.weight.T


@known("weight-not-transposed")
def out_weight_as_it_is(self, x, causal=False):
    """`nn.Linear` keeps its weight as (out, in) and computes x @ W.T + b. Here a weight was used
    without the transpose; it is square, so no shape complains.

    Look: call the layer itself.
    """
    return _heads(self, x, causal) @ self.out_proj.weight + self.out_proj.bias


@known("extra-nonlinearity")
def relu_on_the_way_out(self, x, causal=False):
    """An activation stands where only linear layers belong. The one nonlinearity of attention is
    its softmax.

    Look: what happens before and after each layer?
    """
    return torch.relu(_forward(self, x, causal))


@known("extra-nonlinearity")
def relu_before_out_proj(self, x, causal=False):
    return self.out_proj(torch.relu(_heads(self, x, causal)))


@known("returns-weights")
def weights_alone(self, x, causal=False):
    """The attention weights come back. They say where each token looked; the result is what it
    found there, after `out_proj`.

    Look: go on: attend, merge, project out.
    """
    kept = []
    _heads(self, x, causal, attend=lambda w, v: kept.append(w) or w @ v)
    return kept[0]


@known("returns-extra")
def weights_as_well(self, x, causal=False):
    """More than one thing comes back. The class returns one tensor, (B, T, d_model).

    Look: what stands after `return`; keep weights in an attribute if you want to look at them.
    """
    kept = []
    return _forward(self, x, causal, attend=lambda w, v: kept.append(w) or w @ v), kept[0]


@known("returns-extra")
def mean_weights_as_well(self, x, causal=False):
    out, weights = weights_as_well(self, x, causal)
    return out, weights.mean(1)


@known("returns-extra")
def nothing_as_well(self, x, causal=False):
    return _forward(self, x, causal), None


@known("shape-only-stub")
def input_back(self, x, causal=False):
    """The input comes back as it was: nothing is computed yet.

    Look: project, split, score, mask, softmax, attend, merge, project out.
    """
    return x


@known("shape-only-stub")
def nothing_but_zeros(self, x, causal=False):
    return torch.zeros_like(x)


@known("shape-only-stub")
def only_projected_out(self, x, causal=False):
    return self.out_proj(x)


@known("scale-by-d-model")
def by_root_of_width(self, x, causal=False):
    """Scores are divided by sqrt(d_model). Each head multiplies vectors of length d_head, so the
    scale is sqrt(d_head).

    Look: which size is x.size(-1)?
    """
    scores = {"attention_scores": lambda q, k: q @ k.mT / math.sqrt(x.size(-1))}
    return _forward(self, x, causal, **scores)


@known("mask-broadcast-batch-heads")
def mask_of_batch(self, x, causal=False):
    """The mask has the shape (B, T, T). Beside scores of (B, H, T, T) its first axis lines up
    with the heads, not with the batch: it fails, or works by chance when B equals H.

    Look: (T, T) is enough; else give it an axis for the heads, (B, 1, T, T).
    """
    B = x.shape[0]
    mask = {"causal_mask": lambda *args: steps.causal_mask(*args).repeat(B, 1, 1)}
    return _forward(self, x, causal, **mask)


@known("squeeze-drops-dims")
def squeezed(self, x, causal=False):
    """`squeeze()` drops every axis of size 1, also the batch of one or the single token.

    Look: name the axis, or reshape to sizes that you know.
    """
    return _forward(self, x, causal).squeeze()


@known("squeeze-drops-dims")
def batch_squeezed(self, x, causal=False):
    return _forward(self, x, causal).squeeze(0)


@known("squeeze-drops-dims")
def time_squeezed(self, x, causal=False):
    return _forward(self, x, causal).squeeze(1)


@known("mask-multiplied")
def scores_times_triangle(self, x, causal=False):
    """Scores were multiplied by a triangle of ones. Blocked scores become 0, and exp(0) is 1: the
    future still takes part.

    Look: add -inf before softmax instead.
    """
    mask = {"masked_softmax": lambda s, m: (s if m is None else s.tril()).softmax(-1)}
    return _forward(self, x, causal, **mask)


known.entries += _taken_over()
for _slug, _text in {
    "interface-changed": """One of the four layers that the class is given is gone or of another
        size. Checks write their own numbers into `q_proj`, `k_proj`, `v_proj` and `out_proj`.

        Look: leave `__init__` as it is; write `forward`.
        """,
    "stale-cache": """A mask made for one length is used for another: the first call is right, a
        later one with another T is not.

        Look: make the mask in `forward`, from the T of this x.
        """,
    "ignores-given-layers": """The result does not come from the four layers of the class, and two
        calls disagree: new layers with new random weights are made on each call.

        Look: use `self.q_proj`, `self.k_proj`, `self.v_proj` and `self.out_proj`.
        """,
    "tampers-with-checker": """Some of torch's own comparisons were replaced. Checks here do not use
        them.

        Look: restart the kernel, and leave torch's functions as they are.
        """,
    "mask-wrong-device": """The mask is made on the CPU wherever x lives. On a GPU the next
        operation with it fails.

        Look: `device=x.device` when the mask is made.
        """,
}.items():
    known.sign(_slug, _text)
