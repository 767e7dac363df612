"""The class at a glance, as text for a terminal."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean

from nbgrader.api import Gradebook
from wcwidth import wcswidth

from classroom.points import Score, by_step, read_scores, step_of

WIDTH = 100  # columns, which ten steps fit with one blank between them
NAME_WIDTH = 16


@dataclass(frozen=True)
class Row:
    """A student's points by step (None: not all graded), the total, what a human must see, and the
    name, where it is known."""

    student: str
    points: Mapping[str, float | None]
    total: float
    notes: Sequence[str] = ()
    name: str = ""


@dataclass(frozen=True)
class ClassReport:
    """Points of a class on one assignment, and the submissions that have none."""

    assignment: str
    maximum: Mapping[str, float]
    rows: Sequence[Row]
    ungraded: Mapping[str, str]

    @property
    def complete(self) -> bool:
        """Whether every submission has a grade in every step."""
        return not self.ungraded and all(
            points is not None for row in self.rows for points in row.points.values()
        )


def read_class(
    gradebook: Gradebook,
    assignment: str,
    cells: Sequence[tuple[str, str]],
    students: Iterable[str],
    ungraded: Mapping[str, str],
    flags: Mapping[str, Sequence[str]],
) -> ClassReport:
    """Read the points of the students from the gradebook; `cells` are notebooks and grade ids in
    order.

    flags: what else a human should look at, by student.
    """
    scores = read_scores(gradebook, assignment)
    known = by_step(scores.maximum)
    steps = [step_of(scores.name(*cell)) for cell in cells]
    maximum = {step: known[step] for step in dict.fromkeys([*steps, *known]) if step in known}
    names = {
        student.id: ", ".join(filter(None, (student.last_name, student.first_name)))
        for student in gradebook.students
    }
    rows = [
        _row(student, names[student], scores.by_student[student], maximum, flags.get(student, ()))
        for student in students
        if student not in ungraded
    ]
    return ClassReport(assignment, maximum, rows, ungraded)


def _row(student: str, name: str, score: Score, steps: Iterable[str], flags: Sequence[str]) -> Row:
    points = by_step(score.points)
    notes = [*flags, *(_note(cell, score) for cell in score.to_look_at)]
    if score.penalty:
        notes.append(f"handed in late: {score.penalty:g} points taken off")
    points = {step: points[step] for step in steps}
    return Row(student, points, score.so_far, tuple(sorted(notes)), name)


def _note(cell: str, score: Score) -> str:
    if score.points[cell] is None:
        return f"{cell}: no points yet, the cell is missing or is graded by hand"
    return f"{cell}: graded by hand before, look whether the points still hold"


def render(report: ClassReport) -> str:
    """The table, then what needs a human, then what has no grade; 100 columns for ten steps."""
    blocks = [_table(report)]
    notes = [(_called(row), note) for row in report.rows for note in row.notes]
    if notes:
        blocks.append(listing("Needs a human", notes))
    if report.ungraded:
        blocks.append(listing("No grade", report.ungraded.items()))
    return "\n\n".join(blocks)


def _table(report: ClassReport) -> str:
    full = sum(report.maximum.values())
    headings = [*map(_words, report.maximum), ["total"]]
    lines = [["", *heading] for heading in _bottom_aligned(headings)]
    lines.append(["of", *map(_number, report.maximum.values()), _number(full)])
    often = Counter(row.name for row in report.rows)
    body = [_cells(row, row.name if often[row.name] == 1 else _called(row)) for row in report.rows]
    if len(report.rows) > 1:
        body.append(["mean", *_means(report)])
    widths = [max(map(_width, column)) for column in zip(*lines, *body, strict=True)]
    gap = "  " if sum(widths) + 2 * (len(widths) - 1) <= WIDTH else " "
    rule = ["─" * width for width in widths]
    return "\n".join(_line(cells, widths, gap) for cells in [*lines, rule, *body])


def _called(row: Row) -> str:
    return f"{row.student} ({row.name})" if row.name else row.student


def _cells(row: Row, name: str) -> list[str]:
    mark = "!" if row.notes else ""
    points = [_number(value) for value in row.points.values()]
    return [_fit(name or row.student), *points, f"{mark}{_number(row.total)}"]


def _means(report: ClassReport) -> list[str]:
    columns = [[row.points[step] for row in report.rows] for step in report.maximum]
    columns.append([row.total for row in report.rows])
    return [_mean([value for value in column if value is not None]) for column in columns]


def _mean(values: Sequence[float]) -> str:
    return f"{mean(values):.1f}" if values else ""


def _number(value: float | None) -> str:
    return "?" if value is None else f"{value:g}"


def _words(name: str) -> list[str]:
    """
    >>> _words("attention_scores"), _words("MultiHeadAttention")
    (['attention', 'scores'], ['Multi', 'Head', 'Attention'])
    """
    return re.findall(r"[A-Z]?[^_/A-Z]+|[A-Z]+", name)


def _bottom_aligned(headings: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    height = max(map(len, headings))
    padded = [[""] * (height - len(words)) + list(words) for words in headings]
    return list(zip(*padded, strict=True))


def _line(cells: Sequence[str], widths: Sequence[int], gap: str) -> str:
    name, *numbers = zip(cells, widths, strict=True)
    first = name[0] + " " * (name[1] - _width(name[0]))
    return gap.join([first, *(cell.rjust(width) for cell, width in numbers)]).rstrip()


def listing(title: str, entries: Iterable[tuple[str, str]]) -> str:
    return "\n".join(
        [title, *(f"  {_printable(name)}: {_printable(text)}" for name, text in entries)]
    )


def _printable(text: str) -> str:
    """Names come from strangers: nothing in them may steer the terminal."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def _width(text: str) -> int:
    """Columns taken in a terminal: two for a Chinese letter, none for a combining accent."""
    return wcswidth(text)


def _fit(name: str) -> str:
    """
    >>> _fit("a-name-of-thirty-letters-and-more")
    'a-name-of-thirt…'
    """
    name = _printable(name)
    if _width(name) <= NAME_WIDTH:
        return name
    while _width(name) > NAME_WIDTH - 1:
        name = name[:-1]
    return name + "…"
