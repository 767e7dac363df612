"""Mistakes in `split_heads(x, num_heads)`."""

import torch

from attention_lab.check.catalogue.entry import Known, in_other_axes

known = Known("split_heads")


def _cut(x, num_heads):
    return x.unflatten(-1, (num_heads, x.size(-1) // num_heads))  # (B, T, H, d_head)


def _split(x, num_heads):
    return _cut(x, num_heads).transpose(1, 2)


@known("view-instead-of-transpose")
def view_to_heads_first(x, num_heads):
    """`view` straight to (B, H, T, d_head) has the right shape and the wrong tokens: a view moves
    no number, so "head 0" holds all features of the first tokens. Splitting cuts each token's own
    features.

    Look: cut the last axis only; after that swap two axes. See Hint 1.
    Seen in: harvardnlp/annotated-transformer#17, hyunwoongko/transformer#15, reczoo/FuxiCTR#30
    """
    B, T, d_model = x.shape
    return x.reshape(B, num_heads, T, d_model // num_heads)


known.variants(
    "view-instead-of-transpose",
    lambda x, H: x.reshape(x.size(0) * H, x.size(1), x.size(2) // H),
)


@known("missing-head-transpose")
def heads_after_time(x, num_heads):
    """The last axis is cut correctly, but the result stops at (B, T, H, d_head). H has to come
    before T, beside B, so that one batched matrix product serves all heads.

    Look: swap the axes T and H after the cut.
    """
    return _cut(x, num_heads)


@known("head-interleaving")
def dealt_like_cards(x, num_heads):
    """Features were dealt to the heads like cards, one each in turn. Head h owns a run of d_head
    neighbours, features h*d_head up to (h+1)*d_head - 1, like its rows of the projection's weight.

    Look: the order of the two sizes that the last axis is cut into.
    Seen in: NVIDIA/apex#1131, awslabs/slapo#46
    """
    B, T, d_model = x.shape
    return x.reshape(B, T, d_model // num_heads, num_heads).permute(0, 3, 1, 2)


known.variants(
    "head-interleaving",
    lambda x, H: _cut(_cut(x, H).transpose(2, 3).flatten(2), H).transpose(1, 2),
)


@known("split-by-d-head")
def width_for_number(x, num_heads):
    """The two sizes of the cut are swapped: there are d_head heads of H features, and features
    of all heads are dealt out among them. H comes first, then d_head.

    Look: the order of the two sizes that the last axis is cut into.
    """
    return _cut(x, x.size(-1) // num_heads).transpose(1, 2)


@known("transpose-before-split")
def transposed_first(x, num_heads):
    """Axes were swapped before the cut, so the reshape runs through the tokens instead of through
    the features of one token.

    Look: cut the last axis of x as it comes, (B, T, d_model); swap axes after it.
    """
    B, T, d_model = x.shape
    return x.transpose(1, 2).reshape(B, num_heads, T, d_model // num_heads)


known.variants(
    "transpose-before-split",
    lambda x, H: _cut(x.transpose(1, 2).reshape(x.shape), H).transpose(1, 2),
    lambda x, H: _cut(x.transpose(0, 1).reshape(x.shape), H).transpose(1, 2),
    lambda x, H: x.transpose(0, 1).reshape(x.size(0), H, x.size(1), x.size(2) // H),
)


@known("splits-time-not-features")
def chunks_of_time(x, num_heads):
    """The time axis was cut, so each head gets some of the tokens. Each head sees all tokens, and
    some features of each.

    Look: which axis is cut? It is the last one, of size d_model.
    """
    return torch.stack(x.chunk(num_heads, dim=1), dim=1)


known.variants(
    "splits-time-not-features",
    lambda x, H: x.reshape(x.size(0), H, x.size(1) // H, x.size(2)),
    lambda x, H: x.reshape(x.size(0), x.size(1) // H, H, x.size(2)).transpose(1, 2),
    lambda x, H: torch.stack(x.tensor_split(H, dim=1), dim=1),
    lambda x, H: torch.stack(x.split(x.size(1) // H, dim=1), dim=1),
)


@known("every-head-same-slice")
def first_slice_for_all(x, num_heads):
    """Every head got the same features. Then all heads do the same work and the rest of the
    features goes unused.

    Look: where does the part of head h begin?
    """
    return _cut(x, num_heads).transpose(1, 2)[:, :1].expand(-1, num_heads, -1, -1)


@known("head-order-reversed")
def last_head_first(x, num_heads):
    """The heads are all there, but the last one comes first. Head h owns features h*d_head up to
    (h+1)*d_head - 1.

    Look: is something flipped, or counted down?
    """
    return _cut(x, num_heads).transpose(1, 2).flip(1)


@known("shape-only-stub")
def as_it_came(x, num_heads):
    """Nothing is split yet: what comes back is x itself, or numbers that do not depend on it.

    Look: the docstring says which shape is returned; the hint says how.
    """
    return x


@known("batch-one-only")
def first_of_the_batch(x, num_heads):
    """It works for a batch of one and no other: the batch axis is dropped or taken to be 1.

    Look: the first size of x is B; keep it as the first size of the result.
    Seen in: junliu621/PPLM#6
    """
    return _cut(x[:1], num_heads).transpose(1, 2)


known.variants(
    "batch-one-only",
    lambda x, H: _cut(x[0], H).transpose(0, 1),
    lambda x, H: _cut(x.reshape(1, x.size(1), x.size(2)), H).transpose(1, 2),
)


@known("wrong-axis-order")
def heads_before_the_batch(x, num_heads):
    """The cut is correct, but the axes are in another order than (B, H, T, d_head), or two became
    one. Later steps count on the batch first, then the heads.

    Look: name each axis of your result aloud.
    Seen in: gazelle93/Transformer-Various-Positional-Encoding#1
    """
    return _split(x, num_heads).transpose(0, 1)


known.variants("wrong-axis-order", *in_other_axes(_split, 4, but=[(0, 2, 1, 3)], apart=(1, 3)))
