"""Mistakes in `merge_heads(x)`."""

from torch.nn import functional as F

from attention_lab.check.catalogue.entry import Known, in_other_axes

known = Known("merge_heads")


def _merged(x):
    return x.transpose(1, 2).flatten(2)


def _as_tokens(x, like):
    """Cut the numbers of x, in their order, into (B, T, H * d_head)."""
    B, H, T, d_head = like.shape
    return x.reshape(B, T, H * d_head)


@known("merge-without-transpose")
def reshaped_at_once(x):
    """The heads were flattened while H and d_head were not side by side: each row holds pieces of
    several tokens.

    Look: bring H back beside d_head first, then flatten the two.
    Seen in: jsbaan/transformer-from-scratch#6, ajhalthor/Transformer-Neural-Network#4
    """
    return _as_tokens(x, like=x)


known.variants(
    "merge-without-transpose",
    lambda x: _as_tokens(x.transpose(2, 3), like=x),
    lambda x: _as_tokens(x.permute(0, 3, 2, 1), like=x),
    lambda x: _as_tokens(x.permute(0, 3, 1, 2), like=x),
    lambda x: x.reshape(x.size(0), x.size(1), -1),
    lambda x: x.reshape(x.size(0), -1, x.size(2)).mT,
)


@known("missing-contiguous")
def view_after_transpose(x):
    """`view` moves no number, and after the transpose one row's numbers lie apart in memory.

    Look: ask for a copy in order before `view`, and keep it; or use what copies when it must.
    Seen in: facebookresearch/fairseq#2598, NVIDIA/Megatron-LM#251
    """
    B, H, T, d_head = x.shape
    return x.contiguous().transpose(1, 2).view(B, T, H * d_head)


known.variants(
    "missing-contiguous",
    lambda x: x.transpose(1, 2).view(x.size(0), x.size(2), x.size(1) * x.size(3)),
)


@known("head-interleaving")
def dealt_like_cards(x):
    """The features of the heads were shuffled together like cards. Merging puts the heads side by
    side: all of head 0, then all of head 1.

    Look: in which order are the two axes that you flatten?
    Seen in: NVIDIA/apex#1131, awslabs/slapo#46
    """
    return x.permute(0, 2, 3, 1).flatten(2)


@known("head-order-reversed")
def last_head_first(x):
    """The heads are side by side, but the last one comes first.

    Look: is something flipped, or counted down?
    """
    return _merged(x.flip(1))


@known("heads-one-after-another")
def joined_along_time(x):
    """The heads were joined along time, so the result has H times as many rows. They belong side by
    side along the features: one row a token.

    Look: the axis that is joined, or the two that are flattened.
    """
    return x.flatten(1, 2)


@known("heads-averaged")
def averaged(x):
    """The heads were averaged. They belong side by side: what each found is kept, and
    out_proj decides how to mix it.

    Look: no mean; the last axis of the result has H * d_head features.
    Seen in: broadinstitute/CellCap#40
    """
    return x.mean(dim=1)


known.variants(
    "heads-averaged",
    lambda x: _merged(x.mean(1, keepdim=True).expand_as(x)),
    lambda x: x.mean(1).repeat_interleave(x.size(1), dim=-1),
    lambda x: F.pad(x.mean(1), (0, x.size(3) * (x.size(1) - 1))),
    lambda x: x.mean(1, keepdim=True),
    lambda x: x.mean(-1).transpose(1, 2),
)


@known("heads-summed")
def added_up(x):
    """The heads were added up. They belong side by side: what each found is kept, and
    out_proj decides how to mix it.

    Look: no sum; the last axis of the result has H * d_head features.
    """
    return x.sum(dim=1)


known.variants(
    "heads-summed",
    lambda x: _merged(x.sum(1, keepdim=True).expand_as(x)),
    lambda x: x.sum(1).repeat_interleave(x.size(1), dim=-1),
    lambda x: F.pad(x.sum(1), (0, x.size(3) * (x.size(1) - 1))),
    lambda x: x.sum(1, keepdim=True),
)


@known("shape-only-stub")
def as_it_came(x):
    """Nothing is merged yet: what comes back is x itself, or numbers that do not depend on it.

    Look: the docstring says which shape is returned; the hint says how.
    """
    return x


@known("batch-first-confusion")
def time_first(x):
    """Batch and time were swapped: here the batch comes first, (B, T, d_model).

    Look: the order of the axes in `permute`.
    Seen in: pytorch/pytorch#63560, raoyongming/DenseCLIP#55
    """
    return _merged(x).transpose(0, 1)


known.variants("batch-first-confusion", lambda x: _as_tokens(x.permute(2, 0, 1, 3), like=x))


@known("wrong-axis-order")
def only_transposed(x):
    """The axes were not brought into the order batch, token, head, feature before the last two
    became one, or they were not made one.

    Look: name the four axes aloud, in the order that they have before you flatten.
    """
    return x.transpose(1, 2)


known.variants(
    "wrong-axis-order",
    lambda x: x.permute(1, 2, 0, 3).flatten(2),
    lambda x: x.permute(0, 3, 2, 1).flatten(2),
    lambda x: x.permute(0, 3, 1, 2).flatten(2),
    lambda x: x.permute(2, 1, 0, 3).flatten(2),
    lambda x: x.transpose(0, 1).flatten(2),
    lambda x: x.transpose(1, 2).reshape(x.size(0), x.size(1), -1),
    lambda x: x.permute(0, 2, 3, 1),
    lambda x: x.permute(2, 0, 1, 3),
)


@known("batch-one-only")
def first_of_the_batch(x):
    """It works for a batch of one and no other: the batch axis is dropped or taken to be 1.

    Look: the first size of x is B; keep it as the first size of the result.
    Seen in: junliu621/PPLM#6, lucidrains/graph-transformer-pytorch#2
    """
    return _merged(x[:1])


known.variants("batch-one-only", lambda x: x[0].transpose(0, 1).flatten(1))


@known("wrong-return-shape")
def features_before_tokens(x):
    """The features are merged correctly, but the result is not (B, T, d_model): axes changed
    places, became one, or there are too many.

    Look: what happens after the heads are side by side?
    """
    return _merged(x).mT


known.variants(
    "wrong-return-shape",
    *in_other_axes(_merged, 3, but=[(1, 0, 2)]),
    *(lambda x, axis=axis: _merged(x).unsqueeze(axis) for axis in range(4)),
)
