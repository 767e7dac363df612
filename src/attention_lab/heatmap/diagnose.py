"""What a picture of attention weights proves to be wrong."""

from __future__ import annotations

import numpy as np

from attention_lab.heatmap.scene import Frame
from attention_lab.heatmap.weights import tolerance

# Below this a softmax of finite scores may well round to; above it is a leak.
_LEAK = 1e-6
# Dropout of up to half of the weights scales the others by up to so much.
_MOST_SCALED = 2.0


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
    off = tolerance(weights)
    low, high = weights[np.isfinite(weights)].min(initial=0), weights.max()
    rows = weights.sum(-1)
    if low == 0 and rows.max() > 1 + off and _is_dropped(weights, rows):
        return (
            f"Rows do not sum to 1: they sum to {_up_to(rows)}, with zeros here and there. Dropout "
            "does that: call model.eval() before the model."
        )
    if low < 0 or high > 1 + off:
        return (
            f"These are not weights yet: they run from {low:.1f} to {high:.1f}. "
            "Scores become weights by softmax over the last axis, the keys."
        )
    if np.allclose(rows, 1, atol=off):
        return None
    if np.allclose(weights.sum(-2), 1, atol=off):
        return (
            "Columns sum to 1 and rows do not: softmax ran over the queries. "
            "It belongs over the last axis, the keys."
        )
    sums = f"Rows do not sum to 1: they sum to {_up_to(rows)}. "
    if (weights == 0).any() and rows.max() <= 1 + off:
        return sums + "Zeros after softmax do that: mask the scores before it."
    return sums + "softmax over the last axis, the keys, makes every row sum to 1."


def _is_dropped(weights: np.ndarray, rows: np.ndarray) -> bool:
    """Whether zeros lie at other places in each head, and the rest is scaled up for it."""
    zero = weights == 0
    patterns = {head.tobytes() for head in zero}
    scattered = len(patterns) > len(weights) // 2 and (zero & ~zero.all(0)).any()
    return scattered and abs(rows.mean() - 1) < 0.2 and weights.max() <= _MOST_SCALED


def _up_to(sums: np.ndarray) -> str:
    """The least and the largest, with as many digits as tell them from 1."""
    decimals = 2 if np.abs(sums - 1).max() > 0.01 else 4
    return f"{sums.min():.{decimals}f} up to {sums.max():.{decimals}f}"


def _leak(frame: Frame) -> str | None:
    seen = np.where(frame.masked & np.isfinite(frame.weights), frame.weights, 0)
    if seen.min() < 0 or not _LEAK < seen.max() <= 1 + tolerance(frame.weights):
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
