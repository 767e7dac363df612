"""Writing a table as CSV that a spreadsheet may open."""

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path

FORMULA = tuple("=+-@\t\r\n＝＋－＠")  # what a spreadsheet takes for the beginning of a formula


def write_table(path: Path, rows: Iterable[Sequence[str]], encoding: str = "utf-8") -> None:
    with path.open("w", newline="", encoding=encoding) as file:
        csv.writer(file).writerows(rows)


def harmless(text: str) -> str:
    """A text that a spreadsheet shows as it is and does not compute.

    >>> harmless("=HYPERLINK(1)"), harmless("Ada")
    ("'=HYPERLINK(1)", 'Ada')
    """
    return f"'{text}" if looks_like_formula(text) else text


def looks_like_formula(text: str) -> bool:
    return text.startswith(FORMULA)


def number(points: float | None) -> str:
    """
    >>> number(2.50), number(0.0), number(None)
    ('2.5', '0', '')
    """
    return "" if points is None else f"{points:.10g}"
