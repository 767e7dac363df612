"""Comparing numbers."""

import numpy as np
import torch
from torch import Tensor

from attention_lab.observation import Layer


def close(got: Tensor, right: Tensor, tolerance: float) -> bool:
    """Whether all numbers agree within `tolerance`, absolute plus relative to `right`.

    Tensors without numbers, on the meta device, agree with nothing.
    """
    if got.is_meta or right.is_meta:
        return False
    got, right = got.to(torch.float64).numpy(), right.to(torch.float64).numpy()
    with np.errstate(invalid="ignore"):  # inf - inf
        error = np.abs(got - right)
        near = error <= tolerance + tolerance * np.abs(right)
    finite = np.isfinite(error)
    if near.all() and finite.all():
        return True
    return bool(((near & finite) | (got == right)).all())


def difference(got, right):
    """The largest difference of two tensors, as a number."""
    return float((got.to(torch.float64) - right.to(torch.float64)).abs().nan_to_num(0).max())


def same(before, after):
    """Whether a tensor or layer is what it was, to the bit."""
    if isinstance(before, Layer):
        return isinstance(after, Layer) and all(
            same(getattr(before, part), getattr(after, part)) for part in ("weight", "bias")
        )
    if not isinstance(after, Tensor) or _form_of(before) != _form_of(after):
        return False
    return before.numpy().tobytes() == after.numpy().tobytes()


def _form_of(tensor):
    return tensor.shape, tensor.dtype, tensor.device
