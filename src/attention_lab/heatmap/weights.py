"""Reads what a learner hands over (weights, tokens, masks) or says in one sentence what to do.

Axes: B batch, H heads, T query tokens, S key tokens.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from attention_lab.heatmap.sources import ASK_FOR_THEM, name_variants

MOST_VALUES = 4_000_000
# Additive masks in use besides -inf: -1e9, -1e4, the least number of a dtype.
_AS_GOOD_AS_MINUS_INFINITY = -1e3
# By so much a row's sum may differ from 1 in numbers with many digits.
_OFF = 1e-3
_BITS = 52  # of a float64, behind the leading one
_FEWEST_BITS = 7  # of a bfloat16


def read_variants(weights) -> dict[str, np.ndarray]:
    """Named arrays (B, H, T, S), all of one shape, from whatever `sources` knows.

    Raises TypeError for what holds no numbers, ValueError for a shape that is no set of heads.
    """
    variants = {name: read_heads(value) for name, value in name_variants(weights).items()}
    _refuse_different_shapes(variants)
    size = sum(array.size for array in variants.values())
    if size > MOST_VALUES:
        raise ValueError(
            f"That is {size:,} numbers, too many for one picture: choose fewer heads or tokens."
        )
    return variants


def read_heads(weights) -> np.ndarray:
    """Weights (H, T, S) or (B, H, T, S), torch or numpy, as float64 (B, H, T, S)."""
    array = read_numbers(weights, "weights")
    if array.ndim not in (3, 4):
        raise ValueError(
            f"weights must be (H, T, S) or (B, H, T, S); this has shape {array.shape}."
            + (" For a single head pass weights[None]." if array.ndim == 2 else "")
        )
    if 0 in array.shape:
        raise ValueError(f"There is nothing to show in weights of shape {array.shape}.")
    return array.reshape(-1, *array.shape[-3:])


def read_tokens(tokens, T: int, S: int, B: int = 1) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Words for the queries and for the keys: one list for both, or a pair of lists."""
    if tokens is None:
        return tuple(map(str, range(T))), tuple(map(str, range(S)))
    if isinstance(tokens, str):
        raise TypeError("tokens is one string: pass a list of words, such as text.split().")
    tokens = list(tokens)
    lists = bool(tokens) and all(isinstance(part, (list, tuple)) for part in tokens)
    pair = lists and len(tokens) == 2
    if lists and ((len(tokens) == B > 1 and T == S) or not pair):
        raise ValueError(
            f"tokens are {len(tokens)} lists. Of a batch, show one sentence at a time: "
            "show_heads(weights[0], tokens[0]). Queries and keys go as tokens=(queries, keys)."
        )
    queries, keys = tokens if pair else (tokens, tokens)
    if len(queries) != T or len(keys) != S:
        raise ValueError(
            f"weights are for {T} query and {S} key tokens, but tokens has {len(queries)}"
            + (f" and {len(keys)}." if pair else ".")
            + ("" if pair or T == S else " Pass a pair: tokens=(queries, keys).")
        )
    return tuple(map(_printable, queries)), tuple(map(_printable, keys))


def _printable(token) -> str:
    """A token as text; half a surrogate pair, as of a cut emoji, cannot be written."""
    return str(token).encode(errors="replace").decode()


def read_mask(mask, shape: tuple[int, ...]) -> np.ndarray:
    """A mask as booleans of ``shape`` (B, H, T, S), True where a query may not look.

    A boolean mask is taken so already (as in ``nn.MultiheadAttention``); an additive one
    masks wherever it is -inf or as good as that. One of (B, S) is a tokenizer's `attention_mask`:
    ones, or True, where there is a token.
    """
    array = read_numbers(mask, "mask", dtype=None)
    ones = array.dtype.kind in "iub" or bool(np.isin(array, (0, 1)).all() and array.any())
    B, _, T, S = shape
    if ones and array.shape == (B, S) and B > 1:
        if B == T:
            raise ValueError(
                f"mask of shape {array.shape} may have a row for each sentence or for each query: "
                "write mask=(attention_mask == 0)[:, None, None, :], or mask=mask[None, None], "
                "boolean and True where a query may not look."
            )
        return np.broadcast_to((array == 0)[:, None, None], shape)
    if ones and array.dtype != bool:
        raise TypeError(
            "mask must be boolean (True where a query may not look), additive (0 and -inf), or the "
            f"attention_mask (B, S) of a batch; this holds ones and zeros as {array.dtype}."
        )
    masked = array if array.dtype == bool else array < _AS_GOOD_AS_MINUS_INFINITY
    try:
        return np.broadcast_to(masked, shape)
    except ValueError:
        raise ValueError(
            f"mask of shape {array.shape} does not fit weights of {shape[-2]} query and "
            f"{shape[-1]} key tokens: make it {shape[-2:]}."
        ) from None


def above_diagonal(T: int, S: int) -> np.ndarray:
    """(T, S) bool: True where the key comes after the query."""
    return np.triu(np.ones((T, S), bool), 1)


def looks_causal(weights: np.ndarray) -> bool:
    """True if weights (..., T, S) have exact zeros, and only those, above the diagonal."""
    T, S = weights.shape[-2:]
    return T == S and T > 1 and not weights[..., above_diagonal(T, S)].any()


def are_weights(weights: np.ndarray) -> bool:
    """True if all is finite, nothing negative, and every row sums to 1."""
    return bool(heads_are_weights(weights).all())


def heads_are_weights(weights: np.ndarray) -> np.ndarray:
    """The same for each head by itself: weights (..., T, S) to (...) bool."""
    possible = np.isfinite(weights) & (weights >= 0)
    off = np.abs(np.where(possible, weights, 0).sum(-1) - 1)
    return possible.all((-2, -1)) & (off < tolerance(weights)).all(-1)


def tolerance(weights: np.ndarray) -> float:
    """By how much the sum of a row may differ from 1, for want of digits.

    It is seen from the numbers how many digits they have: those of a bfloat16 or a half may have
    come through a float32.
    """
    used = np.bitwise_or.reduce(weights[np.isfinite(weights)].view(np.int64), initial=0)
    behind = int(used) & ((1 << _BITS) - 1)
    unused = (behind & -behind).bit_length() - 1 if behind else _BITS
    return max(_OFF, 2.0 ** (1 - max(_FEWEST_BITS, _BITS - unused)))


def make_causal(weights: np.ndarray) -> np.ndarray | None:
    """What softmax would have given behind a causal mask, from weights (..., T, T) without one.

    A softmax over fewer keys is the old one, cut and divided by what is left of its row.
    None where nothing is left.
    """
    left = np.where(above_diagonal(*weights.shape[-2:]), 0, weights)
    total = left.sum(-1, keepdims=True)
    return left / total if total.min() > 1e-12 else None


def read_numbers(value, name: str, dtype=np.float64) -> np.ndarray:
    """What torch, numpy or lists hold, as a numpy array; TypeError names ``name``."""
    if isinstance(value, torch.Tensor):
        value = _numpy_of(value, name)
    if not isinstance(value, (np.ndarray, Sequence)):
        hint = f" {ASK_FOR_THEM}" if value is None and name == "weights" else ""
        raise TypeError(
            f"{name} must be a torch tensor or a numpy array, not {_type_of(value)}.{hint}"
        )
    try:
        array = np.asarray(value)
        if array.dtype.kind not in "fiub":
            raise TypeError
        return array if dtype is None else array.astype(dtype)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must hold real numbers, in one regular array.") from None


def _numpy_of(tensor: torch.Tensor, name: str) -> np.ndarray:
    if tensor.is_meta:
        raise ValueError(f"{name} is on the meta device, where tensors hold no numbers.")
    if tensor.is_nested:
        raise TypeError(
            f"{name} is a nested tensor, whose rows differ in length: show one sentence at a time."
        )
    try:
        if tensor.is_quantized:
            tensor = tensor.dequantize()
        tensor = tensor.detach().to_dense().cpu()
        return (tensor.double() if tensor.is_floating_point() else tensor).numpy()
    except (RuntimeError, TypeError, NotImplementedError) as error:
        reason = str(error).partition("\n")[0]
        raise TypeError(f"{name} is a {_type_of(tensor)} that holds no numbers: {reason}") from None


def _type_of(value) -> str:
    return type(value).__name__


def _refuse_different_shapes(variants: dict[str, np.ndarray]) -> None:
    shapes = {name: array.shape for name, array in variants.items()}
    if len(set(shapes.values())) > 1:
        listed = ", ".join(f"{name} has {shape}" for name, shape in shapes.items())
        raise ValueError(f"All variants must have one shape (B, H, T, S). Here {listed}.")
