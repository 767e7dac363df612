"""Mistakes in the optional exercises, beside those of the steps that they are made of."""

import math

import torch
from torch.nn import functional as F

from attention_lab.check import steps
from attention_lab.check.catalogue import attend, attention_scores, merge_heads, split_heads
from attention_lab.check.catalogue.entry import Known

cross_attention = Known("cross_attention")
padded_softmax = Known("padded_softmax")
grouped_attention = Known("grouped_attention")
attend_next = Known("attend_next")
one_query = Known("one_query")
one_head = Known("one_head")
NOT_HERE = ("does-next-step-too",)  # softmax follows inside the same answer
ALL = (cross_attention, padded_softmax, grouped_attention, attend_next, one_query, one_head)


def _attention(q, k, v, **replaced):
    """Attention without a mask, some of its steps replaced."""
    scores = replaced.get("attention_scores", steps.attention_scores)(q, k)
    return replaced.get("attend", steps.attend)(scores.softmax(-1), v)


# --- cross-attention ---


def _cross(sources, q_proj, k_proj, v_proj, out_proj, num_heads, **replaced):
    """Cross-attention whose queries, keys and values come from these three `sources`."""
    split = replaced.get("split_heads", steps.split_heads)
    projected = (p(s) for p, s in zip((q_proj, k_proj, v_proj), sources, strict=True))
    mixed = _attention(*(split(part, num_heads) for part in projected), **replaced)
    return out_proj(replaced.get("merge_heads", steps.merge_heads)(mixed))


@cross_attention("memory-ignored")
def itself(x, memory, *rest):
    """Queries, keys and values all come from `x`: that is self-attention once more, and nobody
    looks at `memory`.

    Look: who asks, and where is it looked up?
    """
    return _cross((x, x, x), *rest)


@cross_attention("queries-from-memory")
def asked_by_memory(x, memory, *rest):
    """The tokens of `memory` ask, so there are S rows. The tokens of `x` should ask: one row for
    each of them.

    Look: the argument of `q_proj`.
    """
    return _cross((memory, x, x), *rest)


cross_attention.variants(
    "queries-from-memory", lambda x, memory, *rest: _cross((memory, memory, memory), *rest)
)


@cross_attention("missing-out-proj")
def without_out_proj(x, memory, q_proj, k_proj, v_proj, out_proj, num_heads):
    """The merged heads come back without `out_proj`, so the heads never meet.

    Look: one more layer after merging.
    """
    return _cross((x, memory, memory), q_proj, k_proj, v_proj, lambda merged: merged, num_heads)


@cross_attention("shared-projection")
def keys_as_values(x, memory, q_proj, k_proj, v_proj, *rest):
    """Two of queries, keys and values were made by the same layer.

    Look: each of the three layers belongs to one of the three.
    """
    return _cross((x, memory, memory), q_proj, k_proj, k_proj, *rest)


cross_attention.variants(
    "shared-projection",
    lambda x, memory, q, k, v, *rest: _cross((x, memory, memory), q, q, v, *rest),
    lambda x, memory, q, k, v, *rest: _cross((x, memory, memory), q, v, v, *rest),
    lambda x, memory, q, k, v, *rest: _cross((x, memory, memory), k, k, v, *rest),
)


@cross_attention("single-head-only")
def one_big_head(x, memory, *layers_and_heads):
    """All features form one big head; `num_heads` is not used.

    Look: split before the scores, merge after attending.
    """
    return _cross((x, memory, memory), *layers_and_heads[:-1], 1)


for _step in (split_heads, attention_scores, attend, merge_heads):
    _name = _step.known.step
    cross_attention.take_over(
        _step.known,
        without=NOT_HERE,
        changed=lambda faulty, name=_name: (
            lambda x, memory, *rest: _cross((x, memory, memory), *rest, **{name: faulty})
        ),
    )


# --- padding ---


def _closing(padding, fill=-math.inf):
    """A softmax that closes the cells where `padding(keys, lengths, scores)` is true."""

    def faulty(scores, lengths):
        keys = torch.arange(scores.shape[-1])
        closed = padding(keys, lengths[:, None, None, None], scores)
        return scores.masked_fill(closed, fill).softmax(-1)

    return faulty


def _padding(keys, lengths, scores):
    return keys >= lengths


@padded_softmax("mask-ignored")
def without_padding(scores, lengths):
    """Padding gets weight as if it were words: `lengths` is not used, or what it gave is not.

    Look: is the result of closing cells the one that softmax gets?
    """
    return scores.softmax(-1)


@padded_softmax("mask-after-softmax")
def zeros_after(scores, lengths):
    """Padding was set to 0 after softmax, when its share was already taken from the others: rows do
    not sum to 1.

    Look: what comes first, closing or softmax?
    """
    padding = torch.arange(scores.shape[-1]) >= lengths[:, None, None, None]
    return scores.softmax(-1).masked_fill(padding, 0.0)


@padded_softmax("mask-fills-zero")
def zeros_before(scores, lengths):
    """The scores of padding became 0, and exp(0) is 1: padding still gets weight.

    Look: which score has the weight 0?
    """
    return _closing(_padding, 0.0)(scores, lengths)


padded_softmax.variants("mask-fills-zero", _closing(_padding, -1e-9), _closing(_padding, 1e-9))


@padded_softmax("mask-off-by-one")
def one_too_many(scores, lengths):
    """One key too many is open, or one too few. A sentence of length 3 has the keys 0, 1 and 2.

    Look: `<` or `<=`, and where counting starts.
    """
    return _closing(lambda keys, lengths, scores: keys > lengths)(scores, lengths)


padded_softmax.variants(
    "mask-off-by-one", _closing(lambda keys, lengths, scores: keys >= lengths - 1)
)


@padded_softmax("mask-inverted")
def padding_only(scores, lengths):
    """The words are closed and the padding is open; without padding nothing is open, so rows are
    NaN.

    Look: does your mask say where one may look, or where not?
    """
    return _closing(lambda keys, lengths, scores: keys < lengths)(scores, lengths)


@padded_softmax("padding-in-front")
def first_keys_closed(scores, lengths):
    """The first keys are masked. Padding is at the end of a sentence.

    Look: which keys are real in a sentence of length 2?
    """
    return _closing(lambda keys, lengths, scores: keys < scores.shape[-1] - lengths)(
        scores, lengths
    )


@padded_softmax("one-length-for-all")
def of_the_first_sentence(scores, lengths):
    """All sentences are treated as if they had one and the same length.

    Look: on which axis of `scores` does the mask differ?
    """
    return _beyond(lengths[0])(scores, lengths)


def _beyond(length):
    return _closing(lambda keys, lengths, scores: keys >= length)


padded_softmax.variants(
    "one-length-for-all",
    lambda scores, lengths: _beyond(lengths.min())(scores, lengths),
    lambda scores, lengths: _beyond(lengths.max())(scores, lengths),
    lambda scores, lengths: _beyond(lengths[-1])(scores, lengths),
)


@padded_softmax("queries-masked")
def also_rows(scores, lengths):
    """The rows of padding were closed, too, and a row that may look nowhere is NaN. Their results
    go unused, so they may look anywhere.

    Look: the mask differs from key to key, not from query to query.
    Seen in: pytorch/pytorch#41508
    """
    rows = torch.arange(scores.shape[-2])[:, None]
    return _closing(lambda keys, lengths, scores: (keys >= lengths) | (rows >= lengths))(
        scores, lengths
    )


@padded_softmax("softmax-wrong-dim")
def over_queries(scores, lengths):
    """Softmax runs over the queries: columns sum to 1, not rows.

    Look: which axis of `scores` counts the keys?
    """
    padding = torch.arange(scores.shape[-1]) >= lengths[:, None, None, None]
    return scores.masked_fill(padding, -math.inf).softmax(-2)


# --- grouped queries ---


def _grouped(q, k, v, **replaced):
    k, v = (t.repeat_interleave(q.size(1) // t.size(1), dim=1) for t in (k, v))
    return _attention(q, k, v, **replaced)


@grouped_attention("groups-dealt-like-cards")
def like_cards(q, k, v):
    """Groups were dealt to the heads like cards, in turn. Neighbouring heads share a group.

    Look: write down which group each of your heads looks into.
    Seen in: onnx/onnx#7274, ekzhang/jax-js#180
    """
    times = q.size(1) // k.size(1)
    return _attention(q, *(t.repeat(1, times, 1, 1) for t in (k, v)))


@grouped_attention("first-group-only")
def first_group(q, k, v):
    """All heads look into the first group; the other groups go unused.

    Look: which group does the last head look into?
    """
    return _attention(q, k[:, :1], v[:, :1])


@grouped_attention("groups-not-shared")
def as_many_heads_as_groups(q, k, v):
    """As many heads came back as there are groups. Every head of queries keeps a result of its own;
    only keys and values are shared.

    Look: the second axis of your result.
    """
    return _attention(q[:, : k.size(1)], k, v)


grouped_attention.variants(
    "groups-not-shared",
    lambda q, k, v: _attention(q.unflatten(1, (k.size(1), -1)).mean(2), k, v),
    lambda q, k, v: _grouped(q, k, v).unflatten(1, (k.size(1), -1)).mean(2),
)
for _step in (attention_scores, attend):
    _name = _step.known.step
    grouped_attention.take_over(
        _step.known,
        without=NOT_HERE,
        changed=lambda faulty, name=_name: lambda q, k, v: _grouped(q, k, v, **{name: faulty}),
    )


# --- the cache ---


def _next(q, k, v, past_k, past_v, **replaced):
    keys, values = torch.cat([past_k, k], dim=-2), torch.cat([past_v, v], dim=-2)
    return _attention(q, keys, values, **replaced), keys, values


@attend_next("newest-first")
def before_the_past(q, k, v, past_k, past_v):
    """The newest token was put before the others. What it collects is the same, but the next call
    finds the tokens in another order.

    Look: the order of what is joined.
    """
    keys, values = torch.cat([k, past_k], dim=-2), torch.cat([v, past_v], dim=-2)
    return _attention(q, keys, values), keys, values


@attend_next("newest-left-out")
def past_only(q, k, v, past_k, past_v):
    """The newest token looks at the earlier ones only. It may look at itself as well.

    Look: which keys do the scores see, the old ones or all?
    """
    _, keys, values = _next(q, k, v, past_k, past_v)
    return _attention(q, past_k, past_v), keys, values


@attend_next("cache-not-extended")
def past_returned(q, k, v, past_k, past_v):
    """What comes back for the next call lacks the newest token.

    Look: which keys and values do you return?
    """
    mixed, _, _ = _next(q, k, v, past_k, past_v)
    return mixed, past_k, past_v


attend_next.variants("cache-not-extended", lambda q, k, v, *past: (_next(q, k, v, *past)[0], k, v))


@attend_next("past-ignored")
def itself_only(q, k, v, past_k, past_v):
    """The newest token looks at itself alone; the kept keys and values go unused.

    Look: which keys do the scores see, the new one or all?
    """
    _, keys, values = _next(q, k, v, past_k, past_v)
    return v, keys, values


@attend_next("mask-of-the-first-row")
def first_key_only(q, k, v, past_k, past_v):
    """A causal mask for one query is the row of the first token: it closes all but the oldest. The
    newest token stands at the end, and nothing lies in its future.

    Look: is a mask needed?
    Seen in: rasbt/LLMs-from-scratch#697, time-series-foundation-models/lag-llama#81
    """
    _, keys, values = _next(q, k, v, past_k, past_v)
    closed = torch.ones(1, keys.size(-2), dtype=torch.bool).triu(1)
    scores = steps.attention_scores(q, keys).masked_fill(closed, -math.inf)
    return steps.attend(scores.softmax(-1), values), keys, values


@attend_next("wrong-return-order")
def values_before_keys(q, k, v, past_k, past_v):
    """Keys and values are swapped in what comes back.

    Look: the order after `return`, and that of the docstring.
    """
    mixed, keys, values = _next(q, k, v, past_k, past_v)
    return mixed, values, keys


for _step in (attention_scores, attend):
    _name = _step.known.step
    attend_next.take_over(
        _step.known,
        without=NOT_HERE,
        changed=lambda faulty, name=_name: lambda *args: _next(*args, **{name: faulty}),
    )


# --- one query, one head ---


def _shares(query, keys):
    return (keys @ query / math.sqrt(len(query))).softmax(0)


@one_query("missing-scale")
def dots_as_they_are(query, keys, values):
    """The dot products were not divided by the root of their length.

    Look: what becomes of a dot product before `exp`.
    """
    return (keys @ query).softmax(0) @ values


@one_query("scale-by-seq-len")
def root_of_the_number_of_keys(query, keys, values):
    """Divided by the root of the number of keys. What counts is their number of features.

    Look: whose length is it?
    """
    return (keys @ query / math.sqrt(len(keys))).softmax(0) @ values


@one_query("scale-without-sqrt")
def without_the_root(query, keys, values):
    """Divided by the number of features, not by its root.

    Look: where is the root taken?
    """
    return (keys @ query / len(query)).softmax(0) @ values


@one_query("not-normalised")
def powers_as_they_are(query, keys, values):
    """The exponentials were not divided by their sum, so the shares do not sum to 1.

    Look: add your shares up.
    """
    return (keys @ query / math.sqrt(len(query))).exp() @ values


@one_query("linear-normalise")
def without_exp(query, keys, values):
    """The scores themselves were made into shares; some of those are negative.

    Look: what makes every number positive?
    """
    scores = keys @ query / math.sqrt(len(query))
    return scores / scores.sum() @ values


@one_query("ignores-weights")
def plain_mean(query, keys, values):
    """Every value has the same share, whatever the query asks for.

    Look: where do the shares come in?
    """
    return values.mean(0)


@one_query("hard-attention")
def best_key(query, keys, values):
    """Only the value of the best key came back. Every value counts by its share.

    Look: where is one key chosen?
    """
    return values[_shares(query, keys).argmax()]


def _head(x, layer, h, *, rows=None, scale=None, bias=True, dim=-1):
    d_head = x.shape[-1] // layer.num_heads
    rows = slice(h * d_head, (h + 1) * d_head) if rows is None else rows
    q, k, v = (
        F.linear(x, part.weight[rows], part.bias[rows] if bias else None)
        for part in (layer.q_proj, layer.k_proj, layer.v_proj)
    )
    return (q @ k.T / (scale or math.sqrt(d_head))).softmax(dim) @ v


@one_head("missing-scale")
def head_without_scale(x, layer, h):
    """The scores of the head were not divided by sqrt(d_head).

    Look: what is between the product and softmax?
    """
    return _head(x, layer, h, scale=1)


@one_head("scale-by-d-model")
def scaled_by_all_features(x, layer, h):
    """Divided by sqrt(d_model). One head's dot products have d_head terms.

    Look: how many features do q and k have here?
    """
    return _head(x, layer, h, scale=math.sqrt(x.shape[-1]))


@one_head("bias-forgotten")
def without_bias(x, layer, h):
    """The layers' biases are missing. A head has its rows of them as well.

    Look: what does an `nn.Linear` do beside multiplying?
    """
    return _head(x, layer, h, bias=False)


@one_head("head-interleaving")
def every_nth_row(x, layer, h):
    """Rows were dealt to the heads like cards. Head h owns a run of d_head neighbours.

    Look: print which rows you take for h = 0 and h = 1.
    """
    return _head(x, layer, h, rows=slice(h, None, layer.num_heads))


@one_head("every-head-same-slice")
def head_zero(x, layer, h):
    """Head 0 came back, whichever was asked for.

    Look: what in your code depends on `h`?
    """
    return _head(x, layer, 0)


@one_head("softmax-wrong-dim")
def over_queries_of_a_head(x, layer, h):
    """Softmax runs over the queries: columns sum to 1, not rows.

    Look: its `dim`.
    """
    return _head(x, layer, h, dim=0)


@one_head("returns-extra")
def all_features(x, layer, h):
    """All features came back, not the d_head of this head.

    Look: the shape that the docstring asks for.
    """
    return _head(x, layer, h, rows=slice(None), scale=math.sqrt(x.shape[-1] / layer.num_heads))
