"""``show_features``: tokens by features, the feature axis cut into the slices of the heads.

Axes: T tokens, H heads, ``d_model = H * d_head`` features.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from attention_lab.heatmap import page
from attention_lab.heatmap.display import bundle
from attention_lab.heatmap.drawn import once
from attention_lab.heatmap.palette import LIGHT, lookup
from attention_lab.heatmap.picture import COMPRESSION
from attention_lab.heatmap.text import Face, write
from attention_lab.heatmap.weights import read_numbers
from attention_lab.heatmap.words import shorten, tell_apart

MOST_CELLS = 20_000
CELL, LABEL, TOP, MARGIN = 24, 90, 44, 12
# The slices alternate, in the colours that heads have in the lesson's drawings.
BANDS = ("#ffe3cf", "#f5a870")
RIM = (0xD0, 0xD7, 0xDE)


def show_features(features, tokens=None, *, num_heads: int | None = None, title=None) -> FeatureMap:
    """Show which features of each token belong to which head.

    ``features``: (H, T, d_head) or (1, H, T, d_head), torch or numpy, what each head has; or,
    with ``num_heads``, (T, d_model) or (1, T, d_model), where head h has the features
    ``h*d_head:(h+1)*d_head``. Or a dict of such arrays by name, shown below one another.
    ``tokens``: T words.

    Raises TypeError or ValueError, saying what to pass, for anything else.

    >>> show_features(np.eye(4)[:2], ["a", "b"], num_heads=2)
    Features: 2 tokens, 2 heads of 2 features
    """
    named = features if isinstance(features, Mapping) else {"": features}
    if not named:
        raise ValueError("There are no features here: pass at least one array (H, T, d_head).")
    slices = {str(name): _read(value, num_heads) for name, value in named.items()}
    if len({array.shape for array in slices.values()}) > 1:
        listed = ", ".join(f"{name} has {array.shape}" for name, array in slices.items())
        raise ValueError(
            f"All must have one shape (H, T, d_head), and {listed}. "
            "Does the shape check of this step pass?"
        )
    T = next(iter(slices.values())).shape[1]
    return FeatureMap(title or "Features", slices, _read_tokens(tokens, T))


@dataclass(frozen=True, eq=False, repr=False)
class FeatureMap:
    """What a notebook displays: for each name an array (H, T, d_head); in words in a terminal."""

    title: str
    slices: dict[str, np.ndarray]
    tokens: list[str]

    def __repr__(self):
        H, T, d_head = self._shape
        return f"{self.title}: {T} tokens, {H} heads of {d_head} features"

    def _repr_mimebundle_(self, include=None, exclude=None):
        return bundle(repr(self), self._png(), self._html)

    def to_html(self, path) -> Path:
        """Write the tables to ``path``, one file that needs nothing else."""
        path = Path(path)
        path.write_text(page.document(self._html(), self.title), encoding="utf-8")
        return path

    def png(self, path) -> Path:
        """Write the still picture to ``path``."""
        path = Path(path)
        path.write_bytes(self._png())
        return path

    @property
    def _shape(self):
        return next(iter(self.slices.values())).shape

    @cached_property
    def _strongest(self) -> float:
        finite = [array[np.isfinite(array)] for array in self.slices.values()]
        return max(np.abs(numbers).max(initial=1e-9) for numbers in finite)

    def _html(self) -> str:
        tables = "".join(self._table(name, array) for name, array in self.slices.items())
        call = f"mountFeatures(host, {page.string(self.title)})"
        scripts = ("dom.js", "theme.js", "features.js")
        return page.host(tables, ("heads.css", "features.css"), scripts, call)

    def _table(self, name: str, array: np.ndarray) -> str:
        H, _, d_head = array.shape
        heads = "".join(f'<th scope="colgroup" colspan="{d_head}">head {h}</th>' for h in range(H))
        numbers = "".join(f'<th scope="col">{i}</th>' for i in range(H * d_head))
        table = _side_by_side(array)
        rows = "".join(
            f'<tr><th scope="row">{escape(token)}</th>{"".join(map(_cell, row, strengths))}</tr>'
            for token, row, strengths in zip(
                self.tokens, table, self._strengths(table), strict=True
            )
        )
        columns = f"<colgroup></colgroup>{f'<colgroup span={d_head}></colgroup>' * H}"
        caption = f"<caption>{escape(name)}</caption>" if name else ""
        return (
            f'<table aria-label="{escape(name or self.title)}">{caption}{columns}<thead>'
            f"<tr><td></td>{heads}</tr><tr><td></td>{numbers}</tr></thead>"
            f"<tbody>{rows}</tbody></table>"
        )

    def _strengths(self, values: np.ndarray) -> np.ndarray:
        """The sizes of ``values`` as shares of the largest of all; 0 for what is no number."""
        return np.where(np.isfinite(values), np.abs(values), 0) / self._strongest

    @once
    def _png(self) -> bytes:
        pictures = [self._draw(name, array) for name, array in self.slices.items()]
        width, height = pictures[0].size
        image = Image.new("RGB", (width, height * len(pictures)), "white")
        for i, picture in enumerate(pictures):
            image.paste(picture, (0, i * height))
        file = io.BytesIO()
        image.save(file, "PNG", compress_level=COMPRESSION)
        return file.getvalue()

    def _draw(self, name: str, array: np.ndarray) -> Image.Image:
        H, T, d_head = array.shape
        size = (2 * MARGIN + LABEL + H * d_head * CELL, 2 * MARGIN + TOP + T * CELL)
        image = Image.new("RGB", size, "white")
        pen, left, top = ImageDraw.Draw(image), MARGIN + LABEL, MARGIN + TOP
        write(image, (MARGIN, MARGIN - 4), name or self.title, "black", Face(13, bold=True))
        for h in range(H):
            x = left + h * d_head * CELL
            pen.rectangle((x, top - 22, x + d_head * CELL - 2, top - 3), BANDS[h % 2])
            write(image, (x + 4, top - 20), f"head {h}", "black", Face(11))
        for t, token in enumerate(self.tokens):
            at = (left - 6, top + (t + 0.5) * CELL)
            write(image, at, shorten(token, 12), "black", Face(11), "rm")
        table = _side_by_side(array)
        shades = (200 * self._strengths(table)).round().astype(int)
        image.paste(_cells(shades), (left, top))
        for (t, i), value in np.ndenumerate(table):
            at = (left + (i + 0.5) * CELL, top + (t + 0.5) * CELL)
            ink = "white" if shades[t, i] > 110 else "black"
            write(image, at, _brief(value), ink, Face(8), "mm")
        return image


def _cell(value: float, strength: float) -> str:
    style = f' style="--a:{strength:.2f}"' if strength else ""
    return f"<td{style}>{_number(value)}</td>"


def _cells(shades: np.ndarray) -> Image.Image:
    """Shades (T, d_model) as cells with a rim, white between them."""
    cells = lookup(LIGHT)[shades].repeat(CELL, 0).repeat(CELL, 1)
    for place, colour in ((0, RIM), (CELL - 2, RIM), (CELL - 1, 255)):
        cells[place::CELL] = colour
        cells[:, place::CELL] = colour
    return Image.fromarray(cells)


def _side_by_side(array: np.ndarray) -> np.ndarray:
    """(H, T, d_head) as (T, d_model)."""
    return array.swapaxes(0, 1).reshape(array.shape[1], -1)


def _number(value: float) -> str:
    return "0" if value == 0 else f"{value:z.1f}".replace("-", "−")


def _brief(value: float) -> str:
    """A number in what fits into a cell of the picture."""
    if not 99.95 <= abs(value) < np.inf:
        return _number(value)
    if abs(value) < 9999.5:
        return f"{value:.0f}".replace("-", "−")
    return f"{value:.0e}".replace("e+", "e").replace("e0", "e").replace("-", "−")


def _read(value, num_heads: int | None) -> np.ndarray:
    """Features as (H, T, d_head)."""
    array = read_numbers(value, "features")
    ranks = (3, 4) if num_heads is None else (2, 3)
    expected = "(H, T, d_head)" if num_heads is None else "(T, d_model)"
    if array.ndim == ranks[1] and len(array) == 1:
        array = array[0]
    if array.ndim != ranks[0] or 0 in array.shape:
        raise ValueError(f"features must be {expected}; this has shape {array.shape}.")
    if array.size > MOST_CELLS:
        raise ValueError(f"That is {array.size:,} numbers, too many to read: choose fewer tokens.")
    if num_heads is None:
        return array
    T, d_model = array.shape
    if num_heads < 1 or d_model % num_heads:
        raise ValueError(f"{num_heads} heads cannot share {d_model} features equally.")
    return array.reshape(T, num_heads, -1).swapaxes(0, 1)


def _read_tokens(tokens, T: int) -> list[str]:
    tokens = tuple(map(str, range(T) if tokens is None else tokens))
    if len(tokens) != T:
        raise ValueError(f"features are for {T} tokens, but tokens has {len(tokens)}.")
    return tell_apart(tokens)
