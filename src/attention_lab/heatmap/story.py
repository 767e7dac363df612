"""Steps told one after the other in tables: plain HTML for everybody, a stepper with scripts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

import numpy as np


@dataclass(frozen=True, eq=False)
class Grid:
    """A table of numbers (rows, columns). NaN is an empty cell, -inf a closed one.

    ``origins`` says of each cell where its number came from; ``strong`` (rows, columns) bool
    marks the cells this step is about, ``wrong`` those that came from the wrong place.
    """

    caption: str
    rows: Sequence[str]
    columns: Sequence[str]
    values: np.ndarray
    origins: list[list[str]] | None = None
    strong: np.ndarray | None = None
    wrong: np.ndarray | None = None

    @property
    def scale(self) -> float:
        """The largest size of a number in the table."""
        finite = np.abs(self.values[np.isfinite(self.values)])
        return max(finite.max(initial=0), 1e-9)

    def is_strong(self, row: int, column: int) -> bool:
        return self.strong is not None and bool(self.strong[row, column])

    def is_wrong(self, row: int, column: int) -> bool:
        return self.wrong is not None and bool(self.wrong[row, column])

    def origin(self, row: int, column: int) -> str:
        """Where a number came from, with a ≠ before the wrong place."""
        if not self.origins:
            return ""
        return ("≠ " if self.is_wrong(row, column) else "") + self.origins[row][column]


@dataclass(frozen=True)
class Step:
    """One step: what to see in a sentence or two, and the tables to see it in.

    ``aside`` holds tables that are shown on demand, under the words ``aside_label``.
    """

    title: str
    sentence: str
    grids: list[Grid] = field(default_factory=list)
    aside_label: str = ""
    aside: list[Grid] = field(default_factory=list)
    warning: str = ""


def story_html(steps: list[Step]) -> str:
    """All steps as an ordered list; what they start from is number 0."""
    return f'<ol start="0">{"".join(map(_step, steps))}</ol>'


def story_text(steps: list[Step]) -> str:
    """All steps in words."""
    lines = [f"{i}. {step.title}: {step.sentence}" for i, step in enumerate(steps)]
    return "\n".join(lines)


def _step(step: Step) -> str:
    warning = f'<p role="note">⚠ {escape(step.warning)}</p>' if step.warning else ""
    aside = ""
    if step.aside:
        grids = "".join(map(_grid, step.aside))
        aside = (
            f"<details><summary>{escape(step.aside_label)}</summary><div>{grids}</div></details>"
        )
    return (
        f'<li><p class="title"><b>{escape(step.title)}</b></p>'
        f"<p>{escape(step.sentence)}</p>{warning}"
        f"<div>{''.join(map(_grid, step.grids))}</div>{aside}</li>"
    )


def _grid(grid: Grid) -> str:
    head = "".join(f'<th scope="col">{escape(column)}</th>' for column in grid.columns)
    rows = "".join(
        f'<tr><th scope="row">{escape(label)}</th>'
        + "".join(_cell(grid, r, c) for c in range(len(grid.columns)))
        + "</tr>"
        for r, label in enumerate(grid.rows)
    )
    return (
        f"<table><caption>{escape(grid.caption)}</caption>"
        f"<thead><tr><td></td>{head}</tr></thead><tbody>{rows}</tbody></table>"
    )


def _cell(grid: Grid, r: int, c: int) -> str:
    value = grid.values[r, c]
    if np.isnan(value):
        return "<td></td>"
    if value == -np.inf:
        return '<td class="closed">−∞</td>'
    classes = ["less"] if value < 0 else []
    classes += ["strong"] if grid.is_strong(r, c) else []
    classes += ["wrong"] if grid.is_wrong(r, c) else []
    origin = f"<small>{escape(grid.origin(r, c))}</small> " if grid.origins else ""
    name = f' class="{" ".join(classes)}"' if classes else ""
    return f'<td{name} style="--a:{abs(value) / grid.scale:.2f}">{origin}{number(value)}</td>'


def number(value: float) -> str:
    return f"{value:z.2f}".replace("-", "−")
