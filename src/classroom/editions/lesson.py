"""Reads a lesson: jupytext percent text in which every cell has a hand-written id."""

from dataclasses import dataclass
from pathlib import Path

import jupytext
from nbformat import NotebookNode

OPTIONS = {"id", "grade_id", "solution", "points", "tags", "folded"}
_ADDED_BY_JUPYTEXT = {"lines_to_next_cell", "lines_to_end_of_cell_marker"}
_HEADER = "# ---\n# jupyter:\n#   assignment: the_assignment\n# ---"


class LessonError(ValueError):
    """What is wrong with a lesson or with an edition made from it, one finding a line."""

    def __init__(self, where: str, findings: list[str]):
        super().__init__("\n".join(f"{where}: {finding}" for finding in findings))


@dataclass(frozen=True)
class Lesson:
    """The text of a lesson.

    Attributes:
        name: the notebook's name, without a suffix.
        assignment: the name of nbgrader's assignment it belongs to.
        folder: where the lesson's drawings are.
        cells: its cells; ``cell.id`` is the hand-written id, and ``cell.metadata`` holds the
            options written after ``# %%``, all of them among `OPTIONS`.
    """

    name: str
    assignment: str
    folder: Path
    cells: list[NotebookNode]


def read_lesson(path: Path) -> Lesson:
    """Read the lesson at ``path``.

    Raises:
        LessonError: no assignment in the header, a cell without an id, or an unknown option.
    """
    notebook = jupytext.read(path, fmt="py:percent")
    findings = []
    if not isinstance(notebook.metadata.get("assignment"), str):
        findings.append(f"the header names no assignment; begin the file with\n{_HEADER}")
    for cell in notebook.cells:
        findings += _settle(cell)
    if findings:
        raise LessonError(path.name, findings)
    return Lesson(path.stem, notebook.metadata["assignment"], path.parent, notebook.cells)


def _settle(cell: NotebookNode) -> list[str]:
    """Give the cell its own id and leave only the lesson's options in its metadata."""
    for name in _ADDED_BY_JUPYTEXT:
        cell.metadata.pop(name, None)
    begins = cell.source.partition("\n")[0]
    if cell.cell_type == "raw":
        return [f"the cell {begins!r} is neither code nor [markdown]"]
    options = cell.metadata
    if unknown := sorted(set(options) - OPTIONS):
        return [f"the cell {begins!r} has unknown options: {', '.join(unknown)}"]
    hand_written = options.get("grade_id", options.get("id"))
    if not hand_written:
        return [f'the cell {begins!r} has no id; write `# %% id="..."` above it']
    if options.get("id", hand_written) != hand_written:
        return [f"the cell {hand_written!r} has an id that differs from its grade_id"]
    cell.id = hand_written
    return []
