"""Lines of text in pictures, each laid out once.

To lay out a line takes longer than anything else in a picture, and pictures repeat their words and
numbers.
"""

from __future__ import annotations

import struct
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

import matplotlib
from PIL import Image, ImageDraw, ImageFont

from attention_lab.heatmap.drawn import once

_BOX = struct.Struct("<4i")
_LENGTH = struct.Struct("<d")


class Face(NamedTuple):
    """A size, in pixels, and a weight of the one family of letters."""

    size: int
    bold: bool = False


def write(image: Image.Image, at, text: str, ink, face: Face, anchor: str = "la") -> None:
    """Write a line with its ``anchor`` ``at`` the nearest pixel."""
    mask, left, top = lay_out(text, face, anchor)
    image.paste(ink, (round(at[0]) + left, round(at[1]) + top), mask)


@lru_cache(maxsize=4096)
def lay_out(text: str, face: Face, anchor: str) -> tuple[Image.Image, int, int]:
    """A line as a mask, and how far its left and upper edges lie from its anchor."""
    packed = _line(text, *face, anchor)
    left, top, *size = _BOX.unpack_from(packed)
    return Image.frombytes("L", tuple(size), packed[_BOX.size :]), left, top


@lru_cache(maxsize=4096)
def length(text: str, face: Face) -> float:
    """How far a line reaches, in pixels."""
    return _LENGTH.unpack(_length(text, *face))[0]


def wrap(text: str, face: Face, width: int) -> list[str]:
    """The lines of ``text``, none wider than ``width`` pixels unless a word is."""
    lines, room = [], 0
    for word in text.split():
        needed = length(word, face) + length(" ", face)
        if lines and needed <= room:
            lines[-1] += f" {word}"
            room -= needed
        else:
            lines.append(word)
            room = width - length(word, face)
    return lines or [""]


@once
def _line(text: str, size: int, bold: bool, anchor: str) -> bytes:
    font = _font(size, bold)
    left, top, right, bottom = map(round, font.getbbox(text, anchor=anchor))
    mask = Image.new("L", (max(1, right - left), max(1, bottom - top)))
    ImageDraw.Draw(mask).text((-left, -top), text, 255, font, anchor)
    return _BOX.pack(left, top, *mask.size) + mask.tobytes()


@once
def _length(text: str, size: int, bold: bool) -> bytes:
    return _LENGTH.pack(_font(size, bold).getlength(text))


@cache
def _font(size: int, bold: bool) -> ImageFont.FreeTypeFont:
    name = "DejaVuSans-Bold.ttf" if bold else "DejaVuSans.ttf"
    return ImageFont.truetype(Path(matplotlib.get_data_path(), "fonts", "ttf", name), size)
