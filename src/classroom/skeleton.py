"""Reads from a released notebook what grading relies on; see `attention_lab.handin.lesson`."""

from attention_lab.handin import code
from attention_lab.handin.cells import text_of
from attention_lab.handin.lesson import SETUP, SOLUTION, TEST, WRITTEN, Lesson, Slot


def lesson_of(released: dict, notebook: str) -> Lesson:
    """The lesson of a released notebook, given as nbformat 4 JSON."""
    slots = []
    for cell in released["cells"]:
        name, kind = name_of(cell), _kind(cell)
        if name is not None and kind is not None:
            points = cell["metadata"].get("nbgrader", {}).get("points", 0)
            slots.append(Slot(name, kind, text_of(cell), points))
    return Lesson(notebook, tuple(slots))


def name_of(cell: dict) -> str | None:
    """The name of the slot that a cell of a released notebook is for, if it is for one."""
    return cell["metadata"].get("nbgrader", {}).get("grade_id", cell.get("id"))


def _kind(cell: dict) -> str | None:
    nbgrader = cell["metadata"].get("nbgrader", {})
    if nbgrader.get("task") or nbgrader.get("solution"):
        by_name = not nbgrader.get("grade") and code.defines(text_of(cell), name_of(cell))
        return SOLUTION if by_name else WRITTEN
    if nbgrader.get("grade") or nbgrader.get("locked"):
        return TEST
    return SETUP if "setup" in cell["metadata"].get("tags", []) else None
