"""Carries the answers of a notebook into the released lesson.

The learner's cells stay in the learner's order. The course's cells are put in: the set-up before
all code, each check where it was or, where its answer comes later, behind that.
"""

from copy import deepcopy

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

from attention_lab.handin import code
from attention_lab.handin.cells import Cell
from attention_lab.handin.inspect import Inspection
from attention_lab.handin.lesson import SETUP, SOLUTION, TEST, WRITTEN, Slot
from classroom.repair.reading import make_ids_unique
from classroom.repair.released import Released

MISSING = "# No cell of this notebook answers this."
SHARED = "# This is answered in another cell."
# The set-up of the self-learner's edition: a copy of the course's code never counts.
WRITES_PACKAGE = "%%course_files"
NOT_RUN = "*Not run: an empty exercise that is answered in another cell.*\n\n```python\n{}\n```"


def carry(notebook: NotebookNode, inspection: Inspection, released: Released) -> NotebookNode:
    """A notebook with every cell of the released lesson that grading needs, and the answers and
    other cells of `notebook`, which is left as it is.
    """
    cells = _Carrier(notebook, inspection, released).cells()
    carried = NotebookNode({**notebook, "metadata": deepcopy(notebook.metadata), "cells": cells})
    make_ids_unique(sorted(carried.cells, key=lambda cell: "nbgrader" not in cell.metadata))
    return carried


class _Carrier:
    """Gives every cell a place: (index in the learner's notebook, before 0 or after, slot)."""

    def __init__(self, notebook: NotebookNode, inspection: Inspection, released: Released):
        self.handed_in = notebook.cells
        self.inspection = inspection
        self.lesson = released.lesson
        self.official = released.cells
        self.owners = {}  # the slot that a cell fills, by the cell's index
        for slot in self.lesson.slots:
            cell = inspection.found.get(slot.name)
            if cell is not None and (cell.index not in self.owners or cell.is_called(slot.name)):
                self.owners[cell.index] = slot
        self.placed = []

    def cells(self) -> list[NotebookNode]:
        for cell in self.inspection.cells:
            self._place_own(cell)
        self._place_official()
        return [cell for _, cell in sorted(self.placed, key=lambda placed: placed[0])]

    def _place(self, cell: NotebookNode, index: int, side: int = 0, number: int = 0) -> None:
        self.placed.append(((index, side, number), cell))

    # --- the learner's cells ---

    def _place_own(self, cell: Cell) -> None:
        slot = self.owners.get(cell.index)
        if cell.source.startswith(WRITES_PACKAGE):
            return
        if slot is None:
            self._place(self._extra(cell), cell.index)
        elif slot.kind in (SOLUTION, WRITTEN):
            filled = self._filled(slot, cell.source)
            if pictures := self.handed_in[cell.index].get("attachments"):
                filled.attachments = pictures
            self._place(filled, cell.index)
        elif self._adds_to(slot, cell):
            self._place(new_code_cell(cell.source), cell.index)

    def _extra(self, cell: Cell) -> NotebookNode:
        if cell in self.inspection.leftovers:
            return new_markdown_cell(NOT_RUN.format(cell.source))
        handed_in = self.handed_in[cell.index]
        return NotebookNode({**handed_in, "source": cell.source, "metadata": NotebookNode()})

    def _filled(self, slot: Slot, source: str) -> NotebookNode:
        filled = deepcopy(self.official[slot.name])
        filled.source = source
        return filled

    def _adds_to(self, slot: Slot, cell: Cell) -> bool:
        """Whether a cell whose text is the course's own holds code of the learner's to be run."""
        if cell.kind != "code" or code.same(cell.source, slot.source):
            return False
        return slot.kind == SETUP or bool(code.defined(cell.source))

    # --- the course's cells ---

    def _place_official(self) -> None:
        at, answer = -1, None
        for number, slot in enumerate(self.lesson.slots):
            cell = self.inspection.found.get(slot.name)
            at = at if cell is None else cell.index
            if slot.kind == SETUP:
                self._place(deepcopy(self.official[slot.name]), self._first_code(), -1, number)
            elif slot.kind == TEST:
                if answer is not None and answer.index > at:
                    at = self._end_of_own_cells_after(answer)
                self._place(deepcopy(self.official[slot.name]), at, 1, number)
            else:
                answer = cell
                if cell is None or self.owners[cell.index] is not slot:
                    self._place(self._without_cell(slot, cell), at, 1, number)

    def _without_cell(self, slot: Slot, answer: Cell | None) -> NotebookNode:
        return self._filled(slot, MISSING if answer is None else SHARED)

    def _first_code(self) -> int:
        return min((cell.index for cell in self.inspection.cells if cell.kind == "code"), default=0)

    def _end_of_own_cells_after(self, answer: Cell) -> int:
        end = answer
        for cell in self.inspection.cells[self.inspection.cells.index(answer) + 1 :]:
            if cell.index in self.owners:
                break
            end = cell
        return end.index
