"""Mistakes in `attention_scores(q, k)`."""

import math

import torch
from torch.nn import functional as F

from attention_lab.check.catalogue.entry import Known

known = Known("attention_scores")


def _dots(q, k):
    return q @ k.transpose(-2, -1)


@known("missing-scale")
def unscaled(q, k):
    """The dot products are right and are not divided by sqrt(d_head). Their spread grows with
    d_head, and softmax of large numbers is nearly one-hot: gradients vanish.

    Look: what is the spread of q @ k.T for d_head = 4, 64, 256?
    """
    return _dots(q, k)


@known("scale-without-sqrt")
def by_d_head(q, k):
    """Divided by d_head, not by its square root. The spread of a dot product of d_head terms is
    sqrt(d_head), so this flattens the softmax: every key gets nearly the same weight.

    Look: `math.sqrt`, or `** 0.5`.
    """
    return _dots(q, k) / q.size(-1)


@known("double-scale")
def by_root_twice(q, k):
    """The scale is applied twice, to q and k or to the scores as well. One division by sqrt(d_head)
    keeps the spread near 1.

    Look: every place where you divide.
    """
    return _dots(q / math.sqrt(q.size(-1)), k) / math.sqrt(q.size(-1))


@known("double-scale")
def by_root_of_both_sizes(q, k):
    return _dots(q, k) / math.sqrt(q.size(-1)) / math.sqrt(q.size(-2))


@known("scale-multiplied")
def divided_by_inverse(q, k):
    """The scores were multiplied by sqrt(d_head) instead of divided. Most often the scale is
    already an inverse, d_head ** -0.5, and was then divided by.

    Look: multiply by d_head ** -0.5 or divide by d_head ** 0.5.
    """
    return _dots(q, k) * math.sqrt(q.size(-1))


@known("scale-multiplied")
def multiplied_by_d_head(q, k):
    return _dots(q, k) * q.size(-1)


@known("scale-by-num-heads")
def by_root_of_heads(q, k):
    """Divided by sqrt(H). The size that matters is the length of the vectors that are multiplied,
    d_head, the last axis of q; the lesson's example has H = d_head = 4, where nobody can tell.

    Look: which axis of q is q.size(1)?
    """
    return _dots(q, k) / math.sqrt(q.size(1))


@known("scale-by-seq-len")
def by_root_of_tokens(q, k):
    """Divided by sqrt(T). The size that matters is the length of the vectors that are multiplied,
    d_head, not how many of them there are.

    Look: which axis of q is q.size(-2)?
    """
    return _dots(q, k) / math.sqrt(q.size(-2))


@known("scale-by-d-model")
def by_root_of_d_model(q, k):
    """Divided by sqrt(d_model). Each head multiplies vectors of length d_head = d_model / H, so the
    scale is sqrt(d_head).

    Look: the last size of q in this step.
    """
    return _dots(q, k) / math.sqrt(q.size(1) * q.size(-1))


@known("operator-precedence")
def half_of_d_head(q, k):
    """`d ** 1/2` is (d ** 1) / 2: powers bind closer than division. At d_head = 4 half and root are
    the same, which hides it.

    Look: brackets, `d ** (1/2)`, or `math.sqrt(d)`.
    """
    return _dots(q, k) / (q.size(-1) ** 1 / 2)


@known("operator-precedence")
def times_half_of_minus_d(q, k):
    return _dots(q, k) * (q.size(-1) ** -1 / 2)


@known("operator-precedence")
def only_k_divided_then_multiplied(q, k):
    return _dots(q, k) / q.size(-1) * 0.5


@known("integer-sqrt")
def by_whole_root(q, k):
    """The square root was rounded to a whole number. It is right only where d_head is a square.

    Look: keep the root a float: `math.sqrt(d)`, no `int`, no `//`.
    """
    return _dots(q, k) / int(math.sqrt(q.size(-1)))


@known("integer-sqrt")
def by_rounded_root(q, k):
    return _dots(q, k) / round(math.sqrt(q.size(-1)))


@known("query-key-swapped")
def keys_ask(q, k):
    """Rows and columns changed places: this is k @ q.T. Row i must hold what query i finds in every
    key, since softmax runs along rows.

    Look: the queries come first, the keys are transposed.
    """
    return _dots(k, q) / math.sqrt(q.size(-1))


@known("k-reshaped-not-transposed")
def keys_reshaped(q, k):
    """`reshape` to (B, H, d_head, T) gives the shape of a transposed k and scrambles its numbers:
    it reads them in the old order and only cuts differently.

    Look: `transpose(-2, -1)` swaps axes; `reshape` and `view` never do.
    """
    B, H, T, d_head = k.shape
    return q @ k.reshape(B, H, d_head, T) / math.sqrt(d_head)


@known("k-not-transposed")
def keys_as_they_are(q, k):
    """q @ k without a transpose multiplies (T, d_head) by (T, d_head). It runs only when T happens
    to equal d_head, and then mixes features with tokens.

    Look: the last two axes of k must be swapped first.
    """
    return q @ k / math.sqrt(q.size(-1))


@known("k-transposed-on-wrong-dims")
def heads_and_time_swapped(q, k):
    """The wrong two axes of k were swapped: H and T instead of T and d_head.

    Look: count the axes from the end, `k.transpose(-2, -1)`.
    """
    return q @ k.transpose(1, 2) / math.sqrt(q.size(-1))


@known("k-transposed-on-wrong-dims")
def heads_and_features_swapped(q, k):
    return q @ k.transpose(1, 3) / math.sqrt(q.size(-1))


@known("k-transposed-on-wrong-dims")
def all_axes_reversed(q, k):
    return q @ k.permute(3, 2, 1, 0) / math.sqrt(q.size(-1))


@known("heads-mixed")
def keys_of_all_heads(q, k):
    """Every head's queries met the keys of all heads. Each head has a table of its own; heads meet
    only in out_proj.

    Look: in einsum the head letter must be the same in both arguments, and stay in the result.
    """
    return torch.einsum("bhqd,bgkd->bhqk", q, k) / math.sqrt(q.size(-1))


@known("heads-mixed")
def one_table_for_all(q, k):
    return torch.einsum("bhqd,bhkd->bqk", q, k) / math.sqrt(q.size(-1))


@known("cosine-instead-of-dot")
def normalised(q, k):
    """q and k were normalised to length 1 first: that is cosine similarity. Attention uses plain
    dot products, so a long key can speak louder.

    Look: no `normalize`, only the division by sqrt(d_head).
    """
    return _dots(F.normalize(q, dim=-1), F.normalize(k, dim=-1)) / math.sqrt(q.size(-1))


@known("cosine-instead-of-dot")
def normalised_unscaled(q, k):
    return _dots(F.normalize(q, dim=-1), F.normalize(k, dim=-1))


@known("does-next-step-too")
def already_weights(q, k):
    """What comes back are weights already: rows sum to 1. The mask has to be added before softmax,
    so softmax is a later step.

    Look: return the scores as they are after scaling.
    """
    return (_dots(q, k) / math.sqrt(q.size(-1))).softmax(-1)


@known("does-next-step-too")
def already_masked(q, k):
    scores = _dots(q, k) / math.sqrt(q.size(-1))
    return scores.masked_fill(torch.ones_like(scores).triu(1).bool(), -math.inf)


@known("wrong-return-shape")
def batch_and_heads_flat(q, k):
    """The numbers are there, but batch and heads are one axis: (B*H, T, T). Later steps count on
    (B, H, T, T).

    Look: give the shape back after the product.
    """
    return _dots(q, k).flatten(0, 1) / math.sqrt(q.size(-1))


def _rounded(decimals):
    def faulty(q, k):
        return torch.round(_dots(q, k) / math.sqrt(q.size(-1)), decimals=decimals)

    return faulty


_rounded_to_three = _rounded(3)
_rounded_to_three.__doc__ = """The scores were rounded. It looks tidy when printed, but loses
digits, and `round` has no gradient.

Look: round when you print, not what you return.
"""
known("rounded-scores")(_rounded_to_three)
for _decimals in (0, 1, 2, 4):
    known("rounded-scores")(_rounded(_decimals))
