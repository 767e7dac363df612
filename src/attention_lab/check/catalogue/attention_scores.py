"""Mistakes in `attention_scores(q, k)`."""

import math

import torch
from torch.nn import functional as F

from attention_lab.check.catalogue.entry import Fitted, Known, in_other_axes


def _dots(q, k):
    return q @ k.transpose(-2, -1)


def _root_of_d_head(B, H, T, d_head):
    return math.sqrt(d_head)


def _scores(q, k, dots=_dots, scale=_root_of_d_head):
    return dots(q, k) / scale(*q.shape)


known = Known("attention_scores", whole=_scores)


@known("missing-scale", part="scale")
def unscaled(B, H, T, d_head):
    """The dot products are right but are not divided by sqrt(d_head). They grow with d_head, and
    softmax of large numbers is nearly one-hot: gradients vanish.

    Look: how far from 0 dot products tend to be for d_head = 4, 64, 256.
    Seen in: mlc-ai/mlc-llm#3426, bytedance/lightseq#91
    """
    return 1.0


@known("scale-without-sqrt", part="scale")
def by_d_head(B, H, T, d_head):
    """Divided by d_head, or by its square root twice, which is the same. Dot products of entries of
    size 1 are about sqrt(d_head) from 0, so this flattens the softmax: keys get nearly equal
    weight.

    Look: where is the root taken, and is it divided by once?
    Seen in: delzac/cntkx#10, tunz/transformer-pytorch#8
    """
    return d_head


@known("double-scale", part="scale")
def by_root_and_more(B, H, T, d_head):
    """The scale is applied twice. One division by sqrt(d_head), of q, of k or of the scores, keeps
    their size near 1.

    Look: every place where you divide.
    Seen in: huggingface/diffusers#929, pytorch/pytorch#109366
    """
    return math.sqrt(d_head) * d_head


known.variants(
    "double-scale",
    lambda B, H, T, d: d * d,
    lambda B, H, T, d: math.sqrt(d * T),
    lambda B, H, T, d: d * math.sqrt(H),
    lambda B, H, T, d: math.sqrt(math.sqrt(d) * d),
    part="scale",
)


@known("scale-multiplied", part="scale")
def divided_by_inverse(B, H, T, d_head):
    """The scores were multiplied by sqrt(d_head) instead of divided. Most often the scale is
    already an inverse, d_head ** -0.5, and was then divided by.

    Look: multiply by d_head ** -0.5 or divide by d_head ** 0.5.
    Seen in: esceptico/perceiver-io#9
    """
    return d_head**-0.5


known.variants("scale-multiplied", lambda B, H, T, d: 1 / d, part="scale")


@known("scale-by-num-heads", part="scale")
def by_root_of_heads(B, H, T, d_head):
    """Divided by a root of H. What matters is the length of the vectors that are multiplied,
    d_head, the last axis of q. On paper both are 2, where nobody can tell.

    Look: which axis of q is `q.size(1)`?
    """
    return math.sqrt(H)


known.variants("scale-by-num-heads", lambda B, H, T, d: H, part="scale")


@known("scale-by-seq-len", part="scale")
def by_root_of_tokens(B, H, T, d_head):
    """Divided by a root of T. What matters is the length of the vectors that are multiplied,
    d_head, not how many of them there are.

    Look: which axis of q is `q.size(-2)`?
    """
    return math.sqrt(T)


known.variants("scale-by-seq-len", lambda B, H, T, d: T, part="scale")


@known("scale-by-d-model", part="scale")
def by_root_of_d_model(B, H, T, d_head):
    """Divided by a root of d_model. Each head multiplies vectors of length d_head = d_model / H,
    so the scale is sqrt(d_head).

    Look: the last size of q in this step.
    Seen in: lucidrains/vit-pytorch#65, aladdinpersson/Machine-Learning-Collection#65
    """
    return math.sqrt(H * d_head)


known.variants("scale-by-d-model", lambda B, H, T, d: H * d, part="scale")


@known("scores-negated", part="scale")
def by_minus_the_root(B, H, T, d_head):
    """The scores have the wrong sign, so the best match gets the least weight. Mind `-d ** 0.5`:
    powers bind closer than the minus.

    Look: every minus in this step.
    """
    return -math.sqrt(d_head)


known.variants("scores-negated", lambda B, H, T, d: -(d**-0.5), part="scale")


@known("integer-sqrt", part="scale")
def by_whole_root(B, H, T, d_head):
    """The square root was rounded to a whole number. It is right only where d_head is a square.

    Look: keep the root a float: no `int`, no `//`.
    """
    return math.isqrt(d_head)


known.variants(
    "integer-sqrt",
    lambda B, H, T, d: round(math.sqrt(d)),
    lambda B, H, T, d: math.ceil(math.sqrt(d)),
    part="scale",
)


@known("rounded-scores")
def divided_down(q, k):
    """The scores were rounded down: `//` drops everything after the decimal point, and has no
    gradient.

    Look: the operator that divides.
    """
    return _dots(q, k) // math.sqrt(q.size(-1))


known.variants("rounded-scores", lambda q, k: _dots(q, k) // math.isqrt(q.size(-1)))


@known("operator-precedence", part="scale")
def half_of_d_head(B, H, T, d_head):
    """`d ** 1/2` is (d ** 1) / 2: powers bind closer than division. At d_head = 4 half and root are
    the same, which hides it.

    Look: brackets around the exponent, or `math.sqrt`.
    """
    return d_head**1 / 2


known.variants(
    "operator-precedence",
    lambda B, H, T, d: d // 2,
    lambda B, H, T, d: 2 * d,
    lambda B, H, T, d: 2 / d,
    part="scale",
)


@known("query-key-swapped", part="dots")
def keys_ask(q, k):
    """Rows and columns are swapped: keys ask and queries answer. Row i must hold what query i
    finds in every key, since softmax runs along rows.

    Look: the queries come first, the keys are transposed.
    Seen in: karpathy/llm.c#531, nntile/nntile#382
    """
    return _dots(k, q)


@known("compared-with-itself", part="dots")
def queries_with_queries(q, k):
    """One of the two is not used: queries were compared with queries, or keys with keys.

    Look: both arguments of the product.
    """
    return _dots(q, q)


known.variants("compared-with-itself", lambda q, k: _dots(k, k), part="dots")


@known("k-reshaped-not-transposed", part="dots")
def keys_reshaped(q, k):
    """`reshape` to (B, H, d_head, T) gives the shape of a transposed k and scrambles its numbers:
    it reads them in the old order and only cuts differently.

    Look: which operation swaps axes? `reshape` and `view` never do.
    """
    B, H, T, d_head = k.shape
    return q @ k.reshape(B, H, d_head, T)


@known("k-not-transposed", part="dots")
def keys_as_they_are(q, k):
    """What is multiplied is not (T, d_head) by (d_head, T). It runs only when T happens to equal
    d_head, or cell by cell, and then mixes features with tokens.

    Look: which of the two must be turned, and on which axes?
    """
    return q @ k


known.variants(
    "k-not-transposed",
    lambda q, k: q * k,
    lambda q, k: q.mT @ k,
    lambda q, k: torch.einsum("bhqd,bhdk->bhqk", q, k),
    part="dots",
)


@known("k-transposed-on-wrong-dims", part="dots")
def heads_and_time_swapped(q, k):
    """The wrong axes of k were swapped (`k.T` reverses all four): it is T and d_head, the last two,
    that must change places.

    Look: count the axes from the end.
    Seen in: rasbt/LLMs-from-scratch#521, HomericIntelligence/Odyssey#5648
    """
    return q @ k.transpose(1, 2)


def _permuted(*order):
    return lambda q, k: q @ k.permute(*order)


known.variants(
    "k-transposed-on-wrong-dims",
    _permuted(3, 2, 1, 0),
    _permuted(0, 3, 2, 1),
    _permuted(0, 3, 1, 2),
    _permuted(0, 2, 3, 1),
    _permuted(1, 0, 2, 3),
    _permuted(1, 0, 3, 2),
    _permuted(2, 1, 0, 3),
    _permuted(3, 1, 2, 0),
    part="dots",
)


@known("sums-apart", part="dots")
def features_with_two_letters(q, k):
    """The features of q and of k were summed separately and the sums multiplied. A dot product
    multiplies feature by feature first, then sums.

    Look: in einsum the feature axis must have the same letter in both arguments.
    """
    return torch.einsum("bhqd,bhke->bhqk", q, k)


@known("heads-mixed", part="dots")
def keys_of_all_heads(q, k):
    """Heads were mixed. Each head has a table of its own, from its own queries and keys; heads meet
    only in out_proj.

    Look: in einsum the head letter must be the same in both arguments, and stay in the result.
    """
    return torch.einsum("bhqd,bgkd->bhqk", q, k)


def _for_all_heads(scores, H):
    return scores.expand(-1, H, -1, -1)


known.variants(
    "heads-mixed",
    lambda q, k: torch.einsum("bgqd,bhkd->bhqk", q, k),
    lambda q, k: torch.einsum("bhqd,bgkd->bgqk", q, k),
    lambda q, k: torch.einsum("bhqd,bhkd->bqk", q, k),
    lambda q, k: _for_all_heads(_dots(q, k).sum(1, keepdim=True), q.size(1)),
    lambda q, k: _for_all_heads(_dots(q, k).mean(1, keepdim=True), q.size(1)),
    lambda q, k: _dots(q, k).mean(1),
    lambda q, k: _dots(q, k.mean(1, keepdim=True)),
    lambda q, k: _dots(q.mean(1, keepdim=True), k),
    lambda q, k: _for_all_heads(_dots(q, k)[:, :1], q.size(1)),
    part="dots",
)


@known("cosine-instead-of-dot", part="dots")
def normalised(q, k):
    """q and k were normalised to length 1 first: that is cosine similarity. Attention uses plain
    dot products, so a long key can speak louder.

    Look: no `normalize`, only the division by sqrt(d_head).
    """
    return _dots(F.normalize(q, dim=-1), F.normalize(k, dim=-1))


known.variants(
    "cosine-instead-of-dot",
    lambda q, k: _dots(F.normalize(q, dim=-1), k),
    lambda q, k: _dots(q, F.normalize(k, dim=-1)),
    part="dots",
)
known.variants(
    "cosine-instead-of-dot",
    lambda q, k: _dots(F.normalize(q, dim=-1), F.normalize(k, dim=-1)),
    lambda q, k: _dots(F.normalize(q, dim=-1), F.normalize(k, dim=-1)) * math.sqrt(q.size(-1)),
    lambda q, k: _dots(F.normalize(q, dim=-1), k),
    lambda q, k: _dots(q, F.normalize(k, dim=-1)),
    lambda q, k: _dots(q, k) / (q.norm() * k.norm()),
)


@known("distance-instead-of-dot", part="dots")
def distances(q, k):
    """Distances between queries and keys came back. A dot product is large where they point the
    same way; a distance is small there.

    Look: a product of matrices.
    """
    return torch.cdist(q, k)


known.variants(
    "distance-instead-of-dot",
    lambda q, k: -torch.cdist(q, k),
    lambda q, k: torch.cdist(q, k) ** 2,
    lambda q, k: -(torch.cdist(q, k) ** 2),
    part="dots",
)


@known("does-next-step-too")
def already_weights(q, k):
    """What comes back are weights already, or masked scores, or another part of a softmax. The mask
    and softmax are steps of their own.

    Look: return the scores as they are after scaling.
    """
    return _scores(q, k).softmax(-1)


def _masked_with(fill):
    def faulty(q, k):
        scores = _scores(q, k)
        return scores.masked_fill(torch.ones_like(scores).triu(1).bool(), fill)

    return faulty


known.variants(
    "does-next-step-too",
    *(_masked_with(fill) for fill in (-math.inf, -1e9, torch.finfo(torch.float32).min)),
    lambda q, k: _masked_with(-math.inf)(q, k).softmax(-1),
    lambda q, k: _dots(q, k).softmax(-1),
    lambda q, k: _scores(q, k).softmax(-2),
    lambda q, k: _scores(q, k).exp(),
    lambda q, k: _scores(q, k) - _scores(q, k).amax(-1, keepdim=True),
    lambda q, k: _scores(q, k).log_softmax(-1),
)


@known("extra-nonlinearity")
def no_negative_scores(q, k):
    """Something non-linear is done to the scores after the product. They must be free to be
    negative and to be large; the only nonlinearity of attention is its softmax.

    Look: what happens between the product and `return`?
    """
    return F.relu(_scores(q, k))


for _bend in (
    torch.abs, torch.square, torch.tanh, torch.sigmoid, F.gelu, F.silu, F.leaky_relu, F.softplus,
):  # fmt: skip
    known.variants("extra-nonlinearity", lambda q, k, bend=_bend: bend(_scores(q, k)))


def _by(number):
    return lambda q, k: _dots(q, k) / number


@known("hard-coded-size")
def by_eight(q, k):
    """The scores are divided by the same number whatever d_head is, so they are right for one
    d_head at most.

    Look: read d_head from the shape of what comes in.
    """
    return _by(8)(q, k)


def _divisor(trial):
    (got,), (right,) = trial.got, trial.wanted
    number = trial.sizes["d_head"] ** 0.5 * float((right * right).sum() / (got * right).sum())
    return number if number > 1.001 else None


known.variants("hard-coded-size", Fitted(_by, _divisor))


@known("rounded-scores")
def of_rounded_vectors(q, k):
    """The scores were rounded. It looks tidy when printed, but loses digits, and rounding has no
    gradient.

    Look: round when you print, not what you return.
    """
    return _scores(q.round(decimals=3), k.round(decimals=3))


known.variants(
    "rounded-scores",
    *(lambda q, k, n=n: _scores(q.round(decimals=n), k.round(decimals=n)) for n in range(5)),
)


@known("wrong-return-shape")
def heads_before_the_batch(q, k):
    """The numbers are there, in another shape or order of axes than (B, H, T, T). Later steps count
    on that one.

    Look: name each axis of your result aloud: batch, head, query, key.
    """
    return _scores(q, k).transpose(0, 1)


known.variants(
    "wrong-return-shape",
    *in_other_axes(_scores, 4, but=[(0, 1, 3, 2)]),
    *(lambda q, k, axis=axis: _scores(q, k).unsqueeze(axis) for axis in range(5)),
)


def _scale_of_the_first_call():
    kept = {}
    return lambda q, k: _dots(q, k) / kept.setdefault("scale", math.sqrt(q.shape[-1]))


known.behaviour(
    "stale-cache",
    """Something made in one call is used in a later one, where it does not fit.

    Look: what is kept outside the function? Make it anew in each call.
    """,
)
known.kept("stale-cache", _scale_of_the_first_call)
known.behaviour(
    "rounded-scores",
    """The scores were rounded. It looks tidy when printed, but loses digits, and rounding has no
    gradient.

    Look: round when you print, not what you return.
    """,
)
