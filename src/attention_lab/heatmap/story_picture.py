"""Steps as a still picture, drawn with Pillow, for where no page can be shown.

It lies on the same ramp from white to navy as ``picture``: 0 is paper, 255 is ink.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PIL import Image, ImageDraw

from attention_lab.heatmap.drawn import once
from attention_lab.heatmap.picture import INK, LINE, MARGIN, PAPER, QUIET, to_png
from attention_lab.heatmap.story import Grid, Step, number
from attention_lab.heatmap.text import Face, length, wrap, write

ROOM = 900
GAP, BELOW = 18, 8
# Above the cells of a table: its caption and the names of its columns.
HEAD = 40
# The darkest cell; the numbers in it stay readable.
SHADE = 70


@once
def story_png(title: str, steps: list[Step]) -> bytes:
    """A PNG of all steps below one another; what is shown only on demand is left out."""
    blocks = [_text(title, 16, bold=True)]
    for place, step in enumerate(steps):
        blocks.append(_text(f"{place}. {step.title}", 14, bold=True))
        blocks.append(_text(step.sentence))
        blocks += [_text(f"⚠ {step.warning}", bold=True)] if step.warning else []
        blocks += _rows([_table(grid) for grid in step.grids]) if step.grids else []
    return to_png(_stack(blocks))


def _text(text: str, size: int = 13, bold: bool = False) -> Image.Image:
    face = Face(size, bold)
    lines = [part for line in text.split("\n") for part in wrap(line, face, ROOM)]
    image = Image.new("L", (ROOM, len(lines) * (size + 5)), PAPER)
    for i, line in enumerate(lines):
        write(image, (0, i * (size + 5)), line, INK, face)
    return image


def _table(grid: Grid) -> Image.Image:
    texts = [
        [_cell_text(grid, r, c) for c in range(len(grid.columns))] for r in range(len(grid.rows))
    ]
    wide = [_width(column) for column in zip(grid.columns, *texts, strict=True)]
    high = 34 if grid.origins else 20
    lefts = np.cumsum([_width(grid.rows), *wide]).tolist()
    size = max(lefts[-1], _width([grid.caption]))
    image = Image.new("L", (size + 1, HEAD + high * len(texts) + 1), PAPER)
    write(image, (0, 0), grid.caption, INK, Face(11, bold=True))
    for c, name in enumerate(grid.columns):
        write(image, (lefts[c] + wide[c] / 2, HEAD - 10), name, QUIET, Face(11), "mm")
    for r, row in enumerate(texts):
        top = HEAD + r * high
        write(image, (lefts[0] - 6, top + high / 2), grid.rows[r], INK, Face(11), "rm")
        for c, text in enumerate(row):
            _cell(image, grid, r, c, text, (lefts[c], top, lefts[c + 1], top + high))
    return image


def _cell(image, grid: Grid, r: int, c: int, text: str, box: tuple[int, int, int, int]) -> None:
    if not text:
        return
    value, strong = grid.values[r, c], grid.is_strong(r, c)
    part = abs(value) / grid.scale if np.isfinite(value) else 0
    pen = ImageDraw.Draw(image)
    pen.rectangle(box, round(part * SHADE), LINE)
    left, top, right, bottom = box
    if strong or grid.is_wrong(r, c):
        ink = QUIET if strong else INK
        pen.rectangle((left + 1, top + 1, right - 1, bottom - 1), None, ink, 2)
    lines = text.split("\n")
    for i, line in enumerate(lines):
        middle = (left + right) / 2, top + (i + 0.5) * (bottom - top) / len(lines)
        write(image, middle, line, INK, Face(11, strong), "mm")


def _cell_text(grid: Grid, r: int, c: int) -> str:
    value = grid.values[r, c]
    if np.isnan(value):
        return ""
    text = "−∞" if value == -np.inf else number(value)
    return f"{grid.origin(r, c)}\n{text}" if grid.origins else text


def _rows(tables: list[Image.Image]) -> list[Image.Image]:
    """The tables side by side, as many in a row as fit."""
    rows, row, width = [], [], 0
    for table in tables:
        if row and width + table.width > ROOM:
            rows.append(_beside(row))
            row, width = [], 0
        row.append(table)
        width += table.width + GAP
    return [*rows, _beside(row)]


def _beside(tables: list[Image.Image]) -> Image.Image:
    width = sum(table.width + GAP for table in tables) - GAP
    row = Image.new("L", (width, max(table.height for table in tables)), PAPER)
    left = 0
    for table in tables:
        row.paste(table, (left, 0))
        left += table.width + GAP
    return row


def _stack(blocks: list[Image.Image]) -> Image.Image:
    width = max(block.width for block in blocks) + 2 * MARGIN
    height = sum(block.height + BELOW for block in blocks) + 2 * MARGIN
    stack = Image.new("L", (width, height), PAPER)
    top = MARGIN
    for block in blocks:
        stack.paste(block, (MARGIN, top))
        top += block.height + BELOW
    return stack


def _width(texts: Sequence[str]) -> int:
    """Room for the widest of these texts."""
    lines = "\n".join(texts).split("\n")
    return 10 + round(max(length(text, Face(11, bold=True)) for text in lines))
