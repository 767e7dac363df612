"""The weights of one head as a table: an alternative to looking at colours."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

import numpy as np


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """Values (T, S) with a label for each query (row) and key (column)."""

    caption: str
    queries: list[str]
    keys: list[str]
    values: np.ndarray
    masked: np.ndarray

    @property
    def cells(self) -> list[list[str]]:
        """What each cell reads: three decimals, or "masked"."""
        return [
            ["masked" if hidden else f"{value:.3f}" for value, hidden in zip(*row, strict=True)]
            for row in zip(self.values, self.masked, strict=True)
        ]

    def __repr__(self):
        rows = [["", *self.keys]]
        rows += [[query, *cells] for query, cells in zip(self.queries, self.cells, strict=True)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(map(str.rjust, row, widths)) for row in rows]
        return "\n".join([self.caption, *lines])

    def _repr_html_(self):
        head = "".join(f'<th scope="col">{escape(key)}</th>' for key in self.keys)
        rows = "".join(
            f'<tr><th scope="row">{escape(query)}</th>'
            + "".join(f"<td>{cell}</td>" for cell in cells)
            + "</tr>"
            for query, cells in zip(self.queries, self.cells, strict=True)
        )
        return (
            f"<table><caption>{escape(self.caption)}</caption>"
            f'<thead><tr><th scope="col">query \\ key</th>{head}</tr></thead>'
            f"<tbody>{rows}</tbody></table>"
        )
