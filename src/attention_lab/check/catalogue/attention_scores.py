"""Mistakes in `attention_scores(q, k)`."""

import math

import torch
from torch.nn import functional as F

from attention_lab.check.catalogue.entry import Known

known = Known("attention_scores")


def _dots(q, k):
    return q @ k.transpose(-2, -1)


def _scaled(q, k):
    return _dots(q, k) / math.sqrt(q.size(-1))


def _divided(by):
    """Right but for what the dot products are divided by, which is made from B, H, T and d_head."""
    return lambda q, k: _dots(q, k) / by(*q.shape)


@known("missing-scale")
def unscaled(q, k):
    """The dot products are right and are not divided by sqrt(d_head). They grow with d_head, and
    softmax of large numbers is nearly one-hot: gradients vanish.

    Look: how far dot products stray from 0 for d_head = 4, 64, 256.
    Seen in: mlc-ai/mlc-llm#3426, bytedance/lightseq#91
    """
    return _dots(q, k)


@known("scale-without-sqrt")
def by_d_head(q, k):
    """Divided by d_head, not by its square root. Dot products stray about sqrt(d_head) from 0, so
    this flattens the softmax: every key gets much the same weight.

    Look: where is the root taken?
    Seen in: delzac/cntkx#10, tunz/transformer-pytorch#8
    """
    return _dots(q, k) / q.size(-1)


@known("double-scale")
def by_root_twice(q, k):
    """The scale is applied twice. One division by sqrt(d_head), of q, of k or of the scores, keeps
    their size near 1.

    Look: every place where you divide.
    Seen in: huggingface/diffusers#929, pytorch/pytorch#109366
    """
    return _dots(q / math.sqrt(q.size(-1)), k) / math.sqrt(q.size(-1))


known.variants(
    "double-scale",
    _divided(lambda B, H, T, d: d * math.sqrt(d)),
    _divided(lambda B, H, T, d: d * d),
    _divided(lambda B, H, T, d: math.sqrt(d * T)),
    _divided(lambda B, H, T, d: d * math.sqrt(H)),
    _divided(lambda B, H, T, d: math.sqrt(math.sqrt(d) * d)),
)


@known("scale-multiplied")
def divided_by_inverse(q, k):
    """The scores were multiplied by sqrt(d_head) instead of divided. Most often the scale is
    already an inverse, d_head ** -0.5, and was then divided by.

    Look: multiply by d_head ** -0.5 or divide by d_head ** 0.5.
    Seen in: esceptico/perceiver-io#9
    """
    return _dots(q, k) * math.sqrt(q.size(-1))


known.variants("scale-multiplied", _divided(lambda B, H, T, d: 1 / d))


@known("scale-by-num-heads")
def by_root_of_heads(q, k):
    """Divided by a root of H. What matters is the length of the vectors that are multiplied,
    d_head, the last axis of q. On paper both are 2, where nobody can tell.

    Look: which axis of q is `q.size(1)`?
    """
    return _dots(q, k) / math.sqrt(q.size(1))


known.variants("scale-by-num-heads", _divided(lambda B, H, T, d: H))


@known("scale-by-seq-len")
def by_root_of_tokens(q, k):
    """Divided by a root of T. What matters is the length of the vectors that are multiplied,
    d_head, not how many of them there are.

    Look: which axis of q is `q.size(-2)`?
    """
    return _dots(q, k) / math.sqrt(q.size(-2))


known.variants("scale-by-seq-len", _divided(lambda B, H, T, d: T))


@known("scale-by-d-model")
def by_root_of_d_model(q, k):
    """Divided by a root of d_model. Each head multiplies vectors of length d_head = d_model / H,
    so the scale is sqrt(d_head).

    Look: the last size of q in this step.
    Seen in: lucidrains/vit-pytorch#65, aladdinpersson/Machine-Learning-Collection#65
    """
    return _dots(q, k) / math.sqrt(q.size(1) * q.size(-1))


known.variants("scale-by-d-model", _divided(lambda B, H, T, d: H * d))


@known("operator-precedence")
def half_of_d_head(q, k):
    """`d ** 1/2` is (d ** 1) / 2: powers bind closer than division. At d_head = 4 half and root are
    the same, which hides it.

    Look: brackets around the exponent, or `math.sqrt`.
    """
    return _dots(q, k) / (q.size(-1) ** 1 / 2)


known.variants(
    "operator-precedence",
    lambda q, k: _dots(q, k) / q.size(-1) / 2,
    lambda q, k: _dots(q, k) * q.size(-1) / 2,
    lambda q, k: _dots(q, k) * -(q.size(-1) ** 0.5),
    lambda q, k: _dots(q, k) * -(q.size(-1) ** -0.5),
    lambda q, k: _scaled(q, k) / 2,
)


@known("integer-sqrt")
def by_whole_root(q, k):
    """The square root was rounded to a whole number. It is right only where d_head is a square.

    Look: keep the root a float: no `int`, no `//`.
    """
    return _dots(q, k) / int(math.sqrt(q.size(-1)))


known.variants(
    "integer-sqrt",
    _divided(lambda B, H, T, d: round(math.sqrt(d))),
    _divided(lambda B, H, T, d: math.ceil(math.sqrt(d))),
    lambda q, k: _dots(q, k) // math.sqrt(q.size(-1)),
    lambda q, k: _dots(q, k) // int(math.sqrt(q.size(-1))),
)


@known("query-key-swapped")
def keys_ask(q, k):
    """Rows and columns changed places: keys ask and queries answer. Row i must hold what query i
    finds in every key, since softmax runs along rows.

    Look: the queries come first, the keys are transposed.
    Seen in: karpathy/llm.c#531, nntile/nntile#382
    """
    return _dots(k, q) / math.sqrt(q.size(-1))


@known("k-reshaped-not-transposed")
def keys_reshaped(q, k):
    """`reshape` to (B, H, d_head, T) gives the shape of a transposed k and scrambles its numbers:
    it reads them in the old order and only cuts differently.

    Look: which operation swaps axes? `reshape` and `view` never do.
    """
    B, H, T, d_head = k.shape
    return q @ k.reshape(B, H, d_head, T) / math.sqrt(d_head)


@known("k-not-transposed")
def keys_as_they_are(q, k):
    """What is multiplied is not (T, d_head) by (d_head, T). It runs only when T happens to equal
    d_head, or cell by cell, and then mixes features with tokens.

    Look: which of the two must be turned, and on which axes?
    """
    return q @ k / math.sqrt(q.size(-1))


known.variants(
    "k-not-transposed",
    lambda q, k: q * k / math.sqrt(q.size(-1)),
    lambda q, k: q.mT @ k / math.sqrt(q.size(-1)),
    lambda q, k: torch.einsum("bhqd,bhdk->bhqk", q, k) / math.sqrt(q.size(-1)),
)


@known("k-transposed-on-wrong-dims")
def heads_and_time_swapped(q, k):
    """The wrong axes of k were swapped: it is T and d_head, the last two, that must change places.

    Look: count the axes from the end.
    Seen in: rasbt/LLMs-from-scratch#521, HomericIntelligence/Odyssey#5648
    """
    return q @ k.transpose(1, 2) / math.sqrt(q.size(-1))


def _permuted(*order):
    return lambda q, k: q @ k.permute(*order) / math.sqrt(q.size(-1))


known.variants(
    "k-transposed-on-wrong-dims",
    _permuted(0, 3, 2, 1),
    _permuted(0, 3, 1, 2),
    _permuted(0, 2, 3, 1),
    _permuted(1, 0, 2, 3),
    _permuted(1, 0, 3, 2),
    _permuted(2, 1, 0, 3),
    _permuted(3, 1, 2, 0),
    _permuted(3, 2, 1, 0),
)


@known("heads-mixed")
def keys_of_all_heads(q, k):
    """Heads were mixed. Each head has a table of its own, from its own queries and keys; heads meet
    only in out_proj.

    Look: in einsum the head letter must be the same in both arguments, and stay in the result.
    """
    return torch.einsum("bhqd,bgkd->bhqk", q, k) / math.sqrt(q.size(-1))


def _for_all_heads(scores, H):
    return scores.expand(-1, H, -1, -1)


known.variants(
    "heads-mixed",
    lambda q, k: torch.einsum("bgqd,bhkd->bhqk", q, k) / math.sqrt(q.size(-1)),
    lambda q, k: torch.einsum("bhqd,bgkd->bgqk", q, k) / math.sqrt(q.size(-1)),
    lambda q, k: torch.einsum("bhqd,ghkd->bhqk", q, k) / math.sqrt(q.size(-1)),
    lambda q, k: torch.einsum("bhqd,bhkd->bqk", q, k) / math.sqrt(q.size(-1)),
    lambda q, k: _for_all_heads(_scaled(q, k).sum(1, keepdim=True), q.size(1)),
    lambda q, k: _for_all_heads(_scaled(q, k).mean(1, keepdim=True), q.size(1)),
    lambda q, k: _scaled(q, k).mean(1),
    lambda q, k: _scaled(q, k.mean(1, keepdim=True)),
    lambda q, k: _scaled(q.mean(1, keepdim=True), k),
    lambda q, k: _for_all_heads(_scaled(q, k)[:, :1], q.size(1)),
)


@known("cosine-instead-of-dot")
def normalised(q, k):
    """q and k were normalised to length 1 first: that is cosine similarity. Attention uses plain
    dot products, so a long key can speak louder.

    Look: no `normalize`, only the division by sqrt(d_head).
    """
    return _scaled(F.normalize(q, dim=-1), F.normalize(k, dim=-1))


known.variants(
    "cosine-instead-of-dot",
    lambda q, k: _dots(F.normalize(q, dim=-1), F.normalize(k, dim=-1)),
    lambda q, k: _dots(F.normalize(q, dim=-1), F.normalize(k, dim=-1)) * math.sqrt(q.size(-1)),
    lambda q, k: _dots(F.normalize(q, dim=-1), k),
    lambda q, k: _dots(q, F.normalize(k, dim=-1)),
    lambda q, k: _scaled(F.normalize(q, dim=-1), k),
    lambda q, k: _scaled(q, F.normalize(k, dim=-1)),
    lambda q, k: _dots(q, k) / (q.norm() * k.norm()),
)


@known("does-next-step-too")
def already_weights(q, k):
    """What comes back are weights already, or masked scores. The mask and softmax are steps of
    their own.

    Look: return the scores as they are after scaling.
    """
    return _scaled(q, k).softmax(-1)


def _masked_with(fill):
    def faulty(q, k):
        scores = _scaled(q, k)
        return scores.masked_fill(torch.ones_like(scores).triu(1).bool(), fill)

    return faulty


known.variants(
    "does-next-step-too",
    *(_masked_with(fill) for fill in (-math.inf, -1e9, torch.finfo(torch.float32).min)),
    lambda q, k: _masked_with(-math.inf)(q, k).softmax(-1),
)


@known("hard-coded-size")
def by_eight(q, k):
    """It works at some sizes only: a number is written where a size of the input belongs.

    Look: read d_head and the rest from the shape of what comes in.
    """
    return _dots(q, k) / 8


known.variants(
    "hard-coded-size",
    *(
        _divided(lambda B, H, T, d, fixed=fixed: math.sqrt(fixed))
        for fixed in (4, 16, 32, 128, 512)
    ),
)


@known("rounded-scores")
def of_rounded_vectors(q, k):
    """The scores were rounded. It looks tidy when printed, but loses digits, and rounding has no
    gradient.

    Look: round when you print, not what you return.
    """
    return _scaled(q.round(decimals=3), k.round(decimals=3))


known.variants(
    "rounded-scores",
    *(lambda q, k, n=n: _scaled(q.round(decimals=n), k.round(decimals=n)) for n in range(5)),
)
known.behaviour(
    "wrong-return-shape",
    """The numbers are there, in another shape or order of axes than (B, H, T, T). Later steps count
    on that one.

    Look: name each axis of your result aloud: batch, head, query, key.
    """,
)
