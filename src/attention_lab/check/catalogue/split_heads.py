"""Mistakes in `split_heads(x, num_heads)`."""

import torch

from attention_lab.check.catalogue.entry import Known

known = Known("split_heads")


@known("view-instead-of-transpose")
def view_to_heads_first(x, num_heads):
    """`view` straight to (B, H, T, d_head) has the right shape and the wrong tokens: a view never
    moves a number, so "head 0" is filled with the first tokens, all their features, one after
    another. Splitting cuts the last axis, within each token.

    Look: cut first, `view(B, T, H, d_head)`; then swap the axes H and T. See the hint.
    """
    B, T, d_model = x.shape
    return x.reshape(B, num_heads, T, d_model // num_heads)


@known("view-instead-of-transpose")
def view_to_batch_of_heads(x, num_heads):
    B, T, d_model = x.shape
    return x.reshape(B * num_heads, T, d_model // num_heads)


@known("missing-head-transpose")
def heads_after_time(x, num_heads):
    """The last axis is cut rightly, and the result stops at (B, T, H, d_head). H has to come before
    T, beside B, so that one batched matmul serves all heads.

    Look: swap the axes T and H after the cut.
    """
    B, T, d_model = x.shape
    return x.reshape(B, T, num_heads, d_model // num_heads)


@known("head-interleaving")
def dealt_like_cards(x, num_heads):
    """Features were dealt to the heads like cards, one each in turn. Head h owns a run of d_head
    neighbours: features h*d_head to (h+1)*d_head, as its rows of the projection's weight do.

    Look: the order of the two sizes that the last axis is cut into: (H, d_head), not (d_head, H).
    """
    B, T, d_model = x.shape
    return x.reshape(B, T, d_model // num_heads, num_heads).permute(0, 3, 1, 2)


@known("head-interleaving")
def features_reordered(x, num_heads):
    dealt = x.unflatten(-1, (num_heads, -1)).transpose(2, 3).flatten(2)
    return dealt.unflatten(-1, (num_heads, -1)).transpose(1, 2)


@known("transpose-before-split")
def transposed_first(x, num_heads):
    """Time and features were swapped before the cut, so the reshape runs through the tokens of one
    feature instead of the features of one token.

    Look: cut the last axis of x as it comes, (B, T, d_model); swap axes after it.
    """
    B, T, d_model = x.shape
    return x.transpose(1, 2).reshape(B, num_heads, T, d_model // num_heads)


@known("transpose-before-split")
def transposed_first_then_split(x, num_heads):
    B, T, d_model = x.shape
    return x.transpose(1, 2).reshape(B, T, num_heads, d_model // num_heads).transpose(1, 2)


@known("splits-time-not-features")
def chunks_of_time(x, num_heads):
    """The time axis was cut, so each head gets some of the tokens. Each head sees all tokens, and
    some features of each.

    Look: which axis is cut? It is the last one, of size d_model.
    """
    return torch.stack(x.chunk(num_heads, dim=1), dim=1)


@known("splits-time-not-features")
def view_of_time(x, num_heads):
    B, T, d_model = x.shape
    return x.reshape(B, num_heads, T // num_heads, d_model)


@known("every-head-same-slice")
def first_slice_for_all(x, num_heads):
    """Every head got the same features. Then all heads do the same work and the rest of the
    features goes unused.

    Look: head h starts at feature h*d_head.
    """
    B, T, d_model = x.shape
    d_head = d_model // num_heads
    return x[:, None, :, :d_head].expand(B, num_heads, T, d_head)


@known("every-head-same-slice")
def last_slice_for_all(x, num_heads):
    B, T, d_model = x.shape
    d_head = d_model // num_heads
    return x[:, None, :, -d_head:].expand(B, num_heads, T, d_head)


@known("shape-only-stub")
def as_it_came(x, num_heads):
    """The input comes back as it was: nothing is split yet.

    Look: the docstring says which shape goes out; the hint says how.
    """
    return x


@known("shape-only-stub")
def zeros(x, num_heads):
    B, T, d_model = x.shape
    return x.new_zeros(B, num_heads, T, d_model // num_heads)


@known("head-order-reversed")
def last_head_first(x, num_heads):
    """The heads are all there, last one first. Head h owns features h*d_head to (h+1)*d_head.

    Look: is something flipped, or counted down?
    """
    return x.unflatten(-1, (num_heads, -1)).transpose(1, 2).flip(1)


def _ordered(*order):
    def faulty(x, num_heads):
        B, T, d_model = x.shape
        return x.reshape(B, T, num_heads, d_model // num_heads).permute(*order)

    return faulty


_heads_first = _ordered(2, 0, 1, 3)
_heads_first.__doc__ = """The cut is right; the axes stand in another order than (B, H, T,
d_head). Later steps count on that order: the batch first, then the heads.

Look: name each axis of your result aloud, then the order of the numbers in `permute`.
"""
known("wrong-axis-order")(_heads_first)
for _order in ((0, 2, 3, 1), (0, 3, 2, 1), (1, 2, 0, 3), (2, 1, 0, 3), (0, 3, 1, 2), (0, 1, 3, 2)):
    known("wrong-axis-order")(_ordered(*_order))


@known("batch-one-only")
def without_batch(x, num_heads):
    """It works for a batch of one and no other: the batch axis is dropped or taken to be 1.

    Look: the first size of x is B; keep it as the first size of the result.
    """
    return x[:1].unflatten(-1, (num_heads, -1)).transpose(1, 2)
