"""What a picture of attention weights proves to be wrong."""

from __future__ import annotations

import numpy as np

from attention_lab.heatmap.scene import Frame

_TOLERANCE = 1e-3
# Below this a softmax of finite scores may well round to; above it is a leak.
_LEAK = 1e-6


def diagnose(frame: Frame) -> list[str]:
    """One sentence for each thing that is wrong with the weights of ``frame``, worst first."""
    if frame.error or frame.quiet:
        return []
    found = [_not_numbers(frame.weights)]
    if found == [None]:
        found = [
            _sums(frame.weights),
            _leak(frame),
            _equal_heads(frame.weights),
        ]
    return [sentence for sentence in found if sentence]


def _not_numbers(weights: np.ndarray) -> str | None:
    broken = np.isnan(weights).any(-1)  # (H, T)
    if not broken.any():
        return None
    return (
        f"{_which_rows(broken)}: softmax found nothing but -inf there, so a query had no key "
        "left to look at. Keep the diagonal open."
    )


def _which_rows(broken: np.ndarray) -> str:
    H = len(broken)
    heads, rows = np.flatnonzero(broken.any(-1)), np.flatnonzero(broken.any(0))
    if not broken[np.ix_(heads, rows)].all():
        head, row = np.argwhere(broken)[0]
        return f"{broken.sum()} rows are NaN, first row {row} of head {head}"
    which = f"Row {rows[0]} is" if len(rows) == 1 else f"{len(rows)} rows, from row {rows[0]}, are"
    if len(heads) < H:
        listed = ", ".join(map(str, heads))
        return f"{which} NaN in head{'s' if len(heads) > 1 else ''} {listed}"
    return f"{which} NaN in all {H} heads" if H > 1 else f"{which} NaN"


def _sums(weights: np.ndarray) -> str | None:
    low, high = weights[np.isfinite(weights)].min(initial=0), weights.max()
    rows = weights.sum(-1)
    if low < 0 or high > 1 + _TOLERANCE:
        return (
            f"These are not weights yet: they run from {low:.1f} to {high:.1f}. "
            "Scores become weights by softmax over the last axis, the keys."
        )
    if _ones(rows):
        return None
    if _ones(weights.sum(-2)):
        return (
            "Columns sum to 1 and rows do not: softmax ran over the queries. "
            "It belongs over the last axis, the keys."
        )
    sums = f"Rows do not sum to 1: they sum to {rows.min():.2f} up to {rows.max():.2f}. "
    if (weights == 0).any() and rows.max() <= 1 + _TOLERANCE:
        return sums + "Zeros after softmax do that: mask the scores before it."
    return sums + "softmax over the last axis, the keys, makes every row sum to 1."


def _leak(frame: Frame) -> str | None:
    seen = np.where(frame.masked & np.isfinite(frame.weights), frame.weights, 0)
    if seen.min() < 0 or not _LEAK < seen.max() <= 1 + _TOLERANCE:
        return None
    head, query, key = np.unravel_index(seen.argmax(), seen.shape)
    _, T, S = seen.shape
    what = "The future leaks" if T == S and key > query else "A masked key is looked at"
    return (
        f"{what}: in head {head} "
        f"query {query} gives {seen.max():.2f} to key {key}, which the mask forbids."
    )


def _equal_heads(weights: np.ndarray) -> str | None:
    H, _, S = weights.shape
    if H == 1 or S == 1 or not np.allclose(weights, weights[:1], atol=1e-6, equal_nan=True):
        return None
    if np.allclose(weights, weights[..., :1], atol=1e-6):
        return None  # all weights alike says nothing about the heads
    return f"All {H} heads are the same: each should get its own slice of q and k."


def _ones(sums: np.ndarray) -> bool:
    return np.allclose(sums, 1, atol=_TOLERANCE)
