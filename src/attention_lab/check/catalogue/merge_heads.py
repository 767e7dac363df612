"""Mistakes in `merge_heads(x)`."""

from attention_lab.check.catalogue.entry import Known

known = Known("merge_heads")


@known("merge-without-transpose")
def reshaped_at_once(x):
    """The heads were flattened while H still stood before T: the shape is right, and each row holds
    pieces of several tokens.

    Look: bring H back beside d_head first, then flatten the two.
    """
    B, H, T, d_head = x.shape
    return x.reshape(B, T, H * d_head)


@known("merge-without-transpose")
def last_two_swapped(x):
    B, H, T, d_head = x.shape
    return x.transpose(2, 3).reshape(B, T, H * d_head)


@known("merge-without-transpose")
def all_reversed(x):
    B, H, T, d_head = x.shape
    return x.permute(0, 3, 2, 1).reshape(B, T, H * d_head)


@known("missing-contiguous")
def view_after_transpose(x):
    """`view` refuses: after the transpose the numbers of one row do not lie side by side in memory,
    and a view never moves numbers.

    Look: `.contiguous()` after the transpose and before `view`, its result kept; or `reshape`.
    """
    B, H, T, d_head = x.shape
    return x.contiguous().transpose(1, 2).view(B, T, H * d_head)


@known("missing-contiguous")
def view_after_transpose_of_what_came(x):
    B, H, T, d_head = x.shape
    return x.transpose(1, 2).view(B, T, H * d_head)


@known("head-interleaving")
def dealt_like_cards(x):
    """The features of the heads were shuffled together like cards. Merging puts the heads side by
    side: all of head 0, then all of head 1.

    Look: flatten (H, d_head), in that order.
    """
    return x.permute(0, 2, 3, 1).flatten(2)


@known("head-order-reversed")
def last_head_first(x):
    """The heads stand side by side, last one first.

    Look: is something flipped, or counted down?
    """
    return x.flip(1).transpose(1, 2).flatten(2)


@known("heads-averaged")
def averaged(x):
    """The heads were averaged. They are to stand side by side: what each found is kept, and
    out_proj decides how to mix it.

    Look: no mean; the last axis of the result has H * d_head features.
    """
    return x.mean(dim=1)


@known("heads-averaged")
def averaged_and_repeated(x):
    return x.mean(dim=1).repeat(1, 1, x.size(1))


@known("heads-summed")
def added_up(x):
    """The heads were added up. They are to stand side by side: what each found is kept, and
    out_proj decides how to mix it.

    Look: no sum; the last axis of the result has H * d_head features.
    """
    return x.sum(dim=1)


@known("heads-summed")
def added_up_and_repeated(x):
    return x.sum(dim=1).repeat(1, 1, x.size(1))


@known("shape-only-stub")
def as_it_came(x):
    """The input comes back as it was: nothing is merged yet.

    Look: the docstring says which shape goes out; the hint says how.
    """
    return x


@known("shape-only-stub")
def zeros(x):
    B, H, T, d_head = x.shape
    return x.new_zeros(B, T, H * d_head)


@known("wrong-axis-order")
def only_transposed(x):
    """The axes were brought into the order (B, T, H, d_head) and not flattened: one axis too many.

    Look: make one axis of the last two.
    """
    return x.transpose(1, 2)


@known("batch-first-confusion")
def time_first(x):
    """Batch and time changed places: the result is (T, B, d_model). Here the batch comes first.

    Look: the order of the axes in `permute`.
    """
    return x.permute(2, 0, 1, 3).flatten(2)


@known("wrong-return-shape")
def batch_and_time_flat(x):
    """The features are merged rightly, but batch and time became one axis.

    Look: the result is (B, T, d_model).
    """
    return x.transpose(1, 2).flatten(2).flatten(0, 1)


@known("wrong-return-shape")
def features_before_time(x):
    return x.transpose(1, 2).flatten(2).transpose(1, 2)


@known("batch-one-only")
def without_batch(x):
    """It works for a batch of one and no other: the batch axis is dropped or taken to be 1.

    Look: the first size of x is B; keep it as the first size of the result.
    """
    return x[:1].transpose(1, 2).flatten(2)


@known("batch-one-only")
def batch_dropped(x):
    return x[0].transpose(0, 1).flatten(1)
