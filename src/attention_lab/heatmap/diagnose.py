"""What a picture of attention weights proves to be wrong."""

from __future__ import annotations

import numpy as np

from attention_lab.heatmap.scene import Frame

_TOLERANCE = 1e-3
# Below this a softmax of finite scores may well round to; above it is a leak.
_LEAK = 1e-6


def diagnose(frame: Frame) -> list[str]:
    """One sentence for each thing that is wrong with the weights of ``frame``, worst first."""
    if frame.error:
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
    rows = np.argwhere(np.isnan(weights).any(-1))
    if not len(rows):
        return None
    head, row = rows[0]
    return (
        f"{_some(len(rows), 'row')} NaN, first row {row} of head {head}: softmax found nothing "
        "but -inf there, so a query had no key left to look at. Keep the diagonal open."
    )


def _sums(weights: np.ndarray) -> str | None:
    low, high = weights[np.isfinite(weights)].min(initial=0), weights.max()
    rows = weights.sum(-1)
    if low < 0 or high > 1 + _TOLERANCE:
        return (
            f"These are no weights: they run from {low:.1f} to {high:.1f}. "
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


def _some(n: int, noun: str) -> str:
    return f"{n} {noun} is" if n == 1 else f"{n} {noun}s are"
