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
    """All steps as an ordered list."""
    return f"<ol>{''.join(map(_step, steps))}</ol>"


def story_text(steps: list[Step]) -> str:
    """All steps in words."""
    lines = [f"{i}. {step.title}: {step.sentence}" for i, step in enumerate(steps, 1)]
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
        f"<li><h3>{escape(step.title)}</h3><p>{escape(step.sentence)}</p>{warning}"
        f"<div>{''.join(map(_grid, step.grids))}</div>{aside}</li>"
    )


def _grid(grid: Grid) -> str:
    head = "".join(f'<th scope="col">{escape(column)}</th>' for column in grid.columns)
    finite = np.abs(grid.values[np.isfinite(grid.values)])
    scale = max(finite.max(initial=0), 1e-9)
    rows = "".join(
        f'<tr><th scope="row">{escape(label)}</th>'
        + "".join(_cell(grid, r, c, scale) for c in range(len(grid.columns)))
        + "</tr>"
        for r, label in enumerate(grid.rows)
    )
    return (
        f"<table><caption>{escape(grid.caption)}</caption>"
        f"<thead><tr><td></td>{head}</tr></thead><tbody>{rows}</tbody></table>"
    )


def _cell(grid: Grid, r: int, c: int, scale: float) -> str:
    value = grid.values[r, c]
    if np.isnan(value):
        return "<td></td>"
    if value == -np.inf:
        return '<td class="closed">−∞</td>'
    classes = ["less"] if value < 0 else []
    classes += ["strong"] if grid.strong is not None and grid.strong[r, c] else []
    wrong = grid.wrong is not None and grid.wrong[r, c]
    classes += ["wrong"] if wrong else []
    origin = ""
    if grid.origins:
        origin = f"<small>{'≠ ' if wrong else ''}{escape(grid.origins[r][c])}</small> "
    name = f' class="{" ".join(classes)}"' if classes else ""
    return f'<td{name} style="--a:{abs(value) / scale:.2f}">{origin}{_number(value)}</td>'


def _number(value: float) -> str:
    return f"{value:z.2f}".replace("-", "−")
