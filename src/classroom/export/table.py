"""Writing a table as CSV that a spreadsheet may open."""

import csv
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

# What a spreadsheet takes for the beginning of a formula, also where it splits at a semicolon.
FORMULA = re.compile(r"(^|(?<=[;|]))(?=\s*[=+\-@＝＋－＠])|^(?=[\t\r\n])")


def write_table(path: Path, rows: Iterable[Sequence[str]], encoding: str = "utf-8") -> None:
    with path.open("w", newline="", encoding=encoding, errors="replace") as file:
        csv.writer(file).writerows(rows)


def harmless(text: str) -> str:
    """A text that a spreadsheet shows as it is and does not compute.

    >>> harmless("=HYPERLINK(1)"), harmless("Ada"), harmless("Ada;=1+1")
    ("'=HYPERLINK(1)", 'Ada', "Ada;'=1+1")
    """
    return FORMULA.sub("'", text)


def looks_like_formula(text: str) -> bool:
    return FORMULA.search(text) is not None


def number(points: float | None) -> str:
    """
    >>> number(2.50), number(0.0), number(None)
    ('2.5', '0', '')
    """
    return "" if points is None else f"{points:.10g}"
