"""The colours of weights, for Pillow and for the browser.

One hue, its luminance strictly monotone, so that order survives colour blindness and a grey
printout, and zero looks like the paper it lies on.
"""

from __future__ import annotations

import numpy as np

LIGHT = ("#ffffff", "#d9e7f5", "#a3c8e8", "#5e9fd3", "#2a72b5", "#114a8b", "#061f49")
DARK = ("#10151c", "#17324f", "#1f5582", "#2f7db0", "#63a9cf", "#b0d6e4", "#fff6dc")
# A difference: blue where there is less, orange where there is more, paper where nothing changed.
LESS_LIGHT = ("#ffffff", "#a3c8e8", "#2a72b5", "#061f49")
MORE_LIGHT = ("#ffffff", "#fbc58b", "#d2691a", "#5f2300")
LESS_DARK = ("#10151c", "#1f5582", "#63a9cf", "#e2f3fb")
MORE_DARK = ("#10151c", "#83420f", "#e8924a", "#ffe9d2")


def lookup(anchors: tuple[str, ...], levels: int = 256) -> np.ndarray:
    """RGB colours (levels, 3) uint8, evenly from the first anchor to the last."""
    colours = np.array([[int(a[i : i + 2], 16) for i in (1, 3, 5)] for a in anchors], float)
    at, knots = np.linspace(0, 1, levels), np.linspace(0, 1, len(anchors))
    channels = [np.interp(at, knots, colours[:, c]) for c in range(3)]
    return np.stack(channels, -1).round().astype(np.uint8)
