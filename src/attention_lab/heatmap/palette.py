"""The colours of weights, for Pillow and for the browser.

One hue, its luminance strictly monotone, so that order survives colour blindness and a grey
printout, and zero looks like the paper it lies on.
"""

from __future__ import annotations

from functools import cache

import numpy as np

LIGHT = ("#ffffff", "#d9e7f5", "#a3c8e8", "#5e9fd3", "#2a72b5", "#114a8b", "#061f49")
DARK = ("#10151c", "#17324f", "#1f5582", "#2f7db0", "#63a9cf", "#b0d6e4", "#fff6dc")
# A difference is the same ramp where there is less, and these where there is more.
MORE_LIGHT = ("#ffffff", "#fbdcba", "#f0a860", "#cf6a1d", "#96430b", "#4f1d00")
MORE_DARK = ("#10151c", "#4a2a10", "#87480f", "#cc7426", "#f0ab68", "#ffe9d2")


@cache
def lookup(anchors: tuple[str, ...], levels: int = 256) -> np.ndarray:
    """RGB colours (levels, 3) uint8, evenly from the first anchor to the last."""
    colours = np.array([[int(a[i : i + 2], 16) for i in (1, 3, 5)] for a in anchors], float)
    at, knots = np.linspace(0, 1, levels), np.linspace(0, 1, len(anchors))
    channels = [np.interp(at, knots, colours[:, c]) for c in range(3)]
    return np.stack(channels, -1).round().astype(np.uint8)
