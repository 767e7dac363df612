"""The heatmap as a still picture, drawn with Pillow: all heads, and one of them large.

It stands in for the interactive page wherever scripts do not run. Everything, ink too, lies on
the one ramp from white to navy, so the picture is drawn in grey and coloured by a palette.
"""

from __future__ import annotations

import io
from functools import lru_cache

import numpy as np
from PIL import Image, ImageDraw

from attention_lab.heatmap.diagnose import diagnose
from attention_lab.heatmap.drawn import once
from attention_lab.heatmap.palette import LIGHT, lookup
from attention_lab.heatmap.scene import Frame, Scene
from attention_lab.heatmap.text import Face, lay_out, length, wrap, write
from attention_lab.heatmap.words import name_heads, shorten, tell_apart

PAPER, LINE, HATCH, ACCENT, QUIET, INK = 0, 34, 60, 204, 204, 255
MARGIN = 16
THUMBNAIL = 100
PITCH = THUMBNAIL + 14
CAPTION = 36
LARGE = 400
# Levels of colour: 16 fit in four bits, so that the file is half as large.
_LEVELS = 16
_ROOM_FOR_NUMBER = 52
# Of zlib's levels the last before the slow ones: half the time of Pillow's own choice, 6, for files
# a fifth larger.
COMPRESSION = 3
# From here on, colours are scaled row by row.
LONG = 48


@once
def png(scene: Scene, head: int | None = None) -> bytes:
    """A PNG of the frame shown first, with ``head`` (default: the chosen one) large."""
    return to_png(draw(scene, scene.head if head is None else head))


def to_png(image: Image.Image) -> bytes:
    """A picture in grey, 0 paper and 255 ink, as a PNG in blue."""
    image = image.point([round(grey / 255 * (_LEVELS - 1)) for grey in range(256)])
    image.putpalette(lookup(LIGHT, _LEVELS).tobytes())
    file = io.BytesIO()
    image.save(file, "PNG", bits=4, compress_level=COMPRESSION)
    return file.getvalue()


def draw(scene: Scene, head: int) -> Image.Image:
    """The picture in grey: 0 is paper, 255 is ink."""
    frame = scene.shown
    if frame.error:
        return _message(f"{scene.title}: {frame.error}")
    H, T, S = frame.weights.shape
    columns = H if H < 3 else 2 if H == 4 else 3 if H <= 12 else 8
    rows = -(-H // columns)
    left = columns * PITCH
    labels = _Labels(scene, T, S)
    close_ups = scene.close_ups(head)
    room = 20 + labels.width + LARGE + 12
    width = MARGIN + left + len(close_ups) * room + MARGIN
    notes = [
        line for note in diagnose(frame) for line in wrap("⚠ " + note, Face(13), width - 2 * MARGIN)
    ]
    top = MARGIN + 28 + 20 * len(notes)
    height = top + max(rows * (THUMBNAIL + CAPTION), 24 + labels.height + LARGE) + MARGIN

    image = Image.new("L", (width, height), PAPER)
    write(image, (MARGIN, MARGIN - 4), scene.title, INK, Face(16, bold=True))
    for i, line in enumerate(notes):
        write(image, (MARGIN, MARGIN + 24 + 20 * i), line, INK, Face(13))
    names = name_heads(frame, scene.queries, scene.keys)
    for h, name in enumerate(names):
        x = MARGIN + h % columns * PITCH
        y = top + h // columns * (THUMBNAIL + CAPTION)
        _thumbnail(image, (x, y), frame, h, name, chosen=h == head)
    for i, (name, beside, h) in enumerate(close_ups):
        x = MARGIN + left + i * room + 20
        label = (names if beside is frame else name_heads(beside, scene.queries, scene.keys))[h]
        write(image, (x, top - 4), f"{name} · {label}", INK, Face(14, bold=True))
        _large(image, (x + labels.width, top + 24 + labels.height), beside, h, labels)
    return image


def _thumbnail(image, corner, frame: Frame, h: int, name: str, chosen: bool) -> None:
    x, y = corner
    pen = ImageDraw.Draw(image)
    image.paste(_heat(frame, h, THUMBNAIL, THUMBNAIL), corner)
    box = (x - 1, y - 1, x + THUMBNAIL, y + THUMBNAIL)
    if chosen:
        pen.rectangle((x - 3, y - 3, x + THUMBNAIL + 2, y + THUMBNAIL + 2), None, ACCENT, 3)
    else:
        pen.rectangle(box, None, LINE)
    write(image, (x, y + THUMBNAIL + 3), f"head {h}", INK, Face(11, bold=chosen))
    write(image, (x, y + THUMBNAIL + 16), shorten(name, 19), QUIET, Face(10))


def _large(image, corner, frame: Frame, h: int, labels: _Labels) -> None:
    x, y = corner
    _, T, S = frame.weights.shape
    width, height = labels.size
    image.paste(_heat(frame, h, width, height), corner)
    ImageDraw.Draw(image).rectangle((x - 1, y - 1, x + width, y + height), None, LINE)
    for q in range(0, T, labels.every(T, height)):
        middle = y + (q + 0.5) * height / T
        write(image, (x - 6, middle), labels.queries[q], INK, labels.face, "rm")
    for k in range(0, S, labels.every(S, width)):
        middle = round(x + (k + 0.5) * width / S)
        text = labels.upright(labels.keys[k])
        image.paste(INK, (middle - text.width // 2, y - 6 - text.height), text)
    if min(width / S, height / T) >= _ROOM_FOR_NUMBER:
        _numbers(image, corner, frame, h, width / S, height / T)


def _numbers(image, corner, frame: Frame, h: int, wide: float, high: float) -> None:
    dark = _scaled(frame.weights[h], frame.span) > 0.5
    for q, k in np.argwhere(~frame.masked[h] & np.isfinite(frame.weights[h])).tolist():
        ink = PAPER if dark[q, k] else INK
        at = (corner[0] + (k + 0.5) * wide, corner[1] + (q + 0.5) * high)
        write(image, at, f"{frame.weights[h, q, k]:.2f}", ink, Face(11), "mm")


class _Labels:
    """The tokens on both axes of the large map, and the room they take, in pixels."""

    def __init__(self, scene: Scene, T: int, S: int):
        longest = max(T, S)
        # whole pixels to a cell where there is room for one, else whatever fits
        cell = LARGE // longest or LARGE / longest
        self.size = max(1, round(S * cell)), max(1, round(T * cell))
        self.face = Face(12 if longest <= 24 else 10)
        self.queries = [shorten(label, 12) for label in tell_apart(scene.queries)]
        self.keys = [shorten(label, 12) for label in tell_apart(scene.keys)]
        self.width = 10 + round(max(length(label, self.face) for label in self.queries))
        self.height = 10 + round(max(length(label, self.face) for label in self.keys))

    def every(self, count: int, length: int) -> int:
        """Of ``count`` labels along ``length`` pixels, label each n-th so that none overlap."""
        return -(-count * 13 // length)

    def upright(self, text: str) -> Image.Image:
        """A mask of ``text`` that reads from bottom to top."""
        letters, left, _ = lay_out(text, self.face, "ls")
        mask = Image.new("L", (letters.width + 1, self.face.size + 4))
        write(mask, (-left, self.face.size), text, 255, self.face, "ls")
        return mask.transpose(Image.Transpose.ROTATE_90)


def _heat(frame: Frame, h: int, width: int, height: int) -> Image.Image:
    """One head (T, S) as an image; masked cells are hatched, NaN is hatched the other way."""
    weights, masked = _pool(frame.weights[h], frame.masked[h], height, width)
    shade = np.nan_to_num(_scaled(weights, _span_of_rows(frame, weights)), nan=0).clip(0, 1)
    size = (width, height)
    picture = _stretch(np.uint8(shade * 255), size)
    for slope, cells in ((1, masked), (-1, np.isnan(weights))):
        if cells.any():
            picture.paste(_hatching(size, slope), (0, 0), _stretch(cells, size))
    return picture


def _pool(weights: np.ndarray, masked: np.ndarray, height: int, width: int):
    """At most one cell a pixel: of cells that share one, the largest open one is shown."""
    for axis, most in ((0, height), (1, width)):
        cells = weights.shape[axis]
        if cells > most:
            starts = np.arange(most) * cells // most
            weights = np.where(masked, -np.inf, weights)
            weights = np.maximum.reduceat(weights, starts, axis)
            masked = np.logical_and.reduceat(masked, starts, axis)
    return weights, masked


def _span_of_rows(frame: Frame, rows: np.ndarray):
    """As ``frame.span``; but long sequences share a row's weight among many keys, so there
    each of ``rows`` (T, S) has a highest value of its own.
    """
    if frame.span != (0, 1) or frame.weights.shape[-1] <= LONG:
        return frame.span
    top = np.nan_to_num(rows, nan=0, neginf=0).max(-1, keepdims=True)
    return 0, np.where(top > 0, top, 1)


def _scaled(values, span):
    low, high = span
    return (values - low) / (high - low)


def _stretch(cells: np.ndarray, size: tuple[int, int]) -> Image.Image:
    return Image.fromarray(cells).resize(size, Image.Resampling.NEAREST)


@lru_cache(maxsize=32)
def _hatching(size: tuple[int, int], slope: int) -> Image.Image:
    across, down = np.arange(size[0]), np.arange(size[1])[:, None]
    lines = (across + slope * down) % 6 == 0
    return Image.fromarray(np.where(lines, np.uint8(HATCH), np.uint8(LINE // 2)))


def _message(text: str) -> Image.Image:
    lines = wrap(text, Face(13), 640)
    image = Image.new("L", (672, 2 * MARGIN + 20 * len(lines)), PAPER)
    for i, line in enumerate(lines):
        write(image, (MARGIN, MARGIN + 20 * i), line, INK, Face(13))
    return image
