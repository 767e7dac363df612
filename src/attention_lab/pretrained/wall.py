"""All heads of all layers as a wall of thumbnails, each with its job in words."""

from __future__ import annotations

import base64
import io
from html import escape

import numpy as np
import torch
import torch.nn.functional as F
from PIL import Image
from torch import Tensor

from attention_lab.heatmap.drawn import once
from attention_lab.heatmap.scene import Frame
from attention_lab.heatmap.words import name_heads

# One ink that shows on light and on dark paper; how opaque it is says how large a weight is.
INK = (74, 150, 201)
SIDE = 50  # of a thumbnail, in pixels, on a page that keeps no styles
# A thumbnail has at most so many cells a side; of cells that share one, the largest is shown.
MOST_CELLS = 48
_STYLE = """
.head-wall { overflow-x: auto }
.head-wall table { border-collapse: collapse; margin: 0; font-size: 11px }
.head-wall caption { text-align: left; padding: 4px 0; font-size: 13px }
.head-wall :is(th, td) { padding: 3px 2px; vertical-align: top }
.head-wall :is(tr, th, td) { text-align: left !important; background: none !important }
.head-wall th { font-weight: normal; white-space: nowrap }
.head-wall img { display: block; width: 50px; height: 50px; max-width: none; margin: 0;
  image-rendering: pixelated; border: 1px solid rgba(128, 128, 128, 0.5) }
.head-wall span { display: block; width: 52px; line-height: 1.2 }
"""


class Wall:
    """A table of heads: a row for each layer, a column for each head.

    weights: (L, H, T, T). tokens: T words.
    """

    def __init__(self, weights: Tensor, tokens: list[str], sentence: str):
        self.sentence = sentence
        self._weights = weights
        self.labels = self._by_layer(head_labels(weights.flatten(0, 1), tokens))

    def __repr__(self):
        lines = [f"The heads of {len(self.labels)} layers on: {self.sentence}"]
        for layer, labels in enumerate(self.labels):
            lines += [f"  L{layer}.H{head}: {label}" for head, label in enumerate(labels)]
        return "\n".join(lines)

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {"text/html": self._html(), "text/plain": repr(self)}

    def _html(self) -> str:
        columns = "".join(f'<th scope="col">head {h}</th>' for h in range(len(self.labels[0])))
        images = self._by_layer(_thumbnails(self._weights.flatten(0, 1)))
        rows = "".join(
            f'<tr><th scope="row">layer {layer}</th>{_cells(layer, *heads)}</tr>'
            for layer, heads in enumerate(zip(images, self.labels, strict=True))
        )
        caption = (
            f"{escape(self.sentence)}<br>Queries from top to bottom, keys from left to right; "
            "the stronger the blue, the larger the weight."
        )
        return (
            f'<div class="head-wall"><style>{_STYLE}</style><table><caption>{caption}</caption>'
            f"<thead><tr><td></td>{columns}</tr></thead><tbody>{rows}</tbody></table></div>"
        )

    def _by_layer(self, heads: list) -> list[list]:
        H = self._weights.shape[1]
        return [heads[first : first + H] for first in range(0, len(heads), H)]


def _cells(layer: int, images: list[str], labels: list[str]) -> str:
    return "".join(
        f'<td><img alt="Layer {layer}, head {head}" width="{SIDE}" height="{SIDE}" '
        f'src="data:image/png;base64,{image}">'
        f"<span>{escape(label).replace(' %', '&nbsp;%')}</span></td>"
        for head, (image, label) in enumerate(zip(images, labels, strict=True))
    )


def head_labels(weights: Tensor, tokens: list[str]) -> list[str]:
    """Heads (H, T, T) in words. The first token is [CLS], and called so."""
    frame = Frame(weights.double().numpy(), np.zeros(weights.shape, bool))
    names = name_heads(frame, tuple(tokens), tuple(tokens))
    return [name.replace("first token", tokens[0]) for name in names]


def _thumbnails(weights: Tensor) -> list[str]:
    """Heads (H, T, T) as PNG images in base64, a pixel for each cell."""
    cells = min(MOST_CELLS, weights.shape[-1])
    opacity = (F.adaptive_max_pool2d(weights, cells) * 255).round().to(torch.uint8).numpy()
    return _pngs(opacity).decode().split()


@once
def _pngs(opacity: np.ndarray) -> bytes:
    return b" ".join(base64.b64encode(_png(head)) for head in opacity)


def _png(opacity: np.ndarray) -> bytes:
    ink = np.broadcast_to(np.uint8(INK), (*opacity.shape, 3))
    file = io.BytesIO()
    Image.fromarray(np.dstack([ink, opacity])).save(file, "PNG", compress_level=4)
    return file.getvalue()
