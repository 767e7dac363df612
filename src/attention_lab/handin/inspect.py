"""Reads a notebook against the released lesson: where each answer is, and what is wrong.

A cell is known by nbgrader's grade_id, then by its id (nbformat's, or Colab's in the metadata),
then by the name it defines, then by its text. Where a learner has written several answers to one
step, the one counts that running all cells from the top would leave in place for its checks.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from functools import lru_cache

from attention_lab.handin import code
from attention_lab.handin.cells import Cell, read_cells
from attention_lab.handin.lesson import SETUP, SOLUTION, TEST, WRITTEN, Lesson, Slot

SIMILAR = 0.8
PIECES = 10  # into which a function may have been split


class Kind(StrEnum):
    """What may be the matter with a cell of the lesson."""

    MISSING = "missing"
    UNMARKED = "unmarked"  # known by its id alone: nbgrader's metadata are lost
    ELSEWHERE = "elsewhere"  # found by the name it defines, in another cell
    SHARED = "shared"  # answered in the cell of another step
    RIVALS = "rivals"  # different answers in copies of its cell
    ANOTHER = "another"  # a different answer further down, in a cell of the learner's own
    COPIED = "copied"
    SPLIT = "split"  # a function over two cells
    NOT_CODE = "not code"  # an answer in a text cell
    NAMELESS = "nameless"  # its cell defines something else
    BROKEN = "broken"  # no Python
    UNANSWERED = "unanswered"
    EDITED = "edited"


@dataclass(frozen=True)
class Finding:
    """What is the matter with the cell of a slot."""

    kind: Kind
    slot: Slot


@dataclass(frozen=True)
class Inspection:
    """What a notebook holds of a lesson.

    cells: the notebook's cells, a function that was split joined again.
    found: the cell that stands for each slot, by the slot's name; one may stand for several.
    leftovers: cells that hold nothing but stubs of steps that are answered in other cells.
    findings: what is the matter, in the order of the lesson.
    """

    cells: tuple[Cell, ...]
    found: Mapping[str, Cell]
    leftovers: tuple[Cell, ...]
    findings: tuple[Finding, ...]

    @property
    def answered(self) -> set[str]:
        """The names of the steps whose cell holds more than a stub."""
        return {name for name, cell in self.found.items() if code.answers(cell.source, name)}


def inspect(notebook: dict, lesson: Lesson) -> Inspection:
    """Inspect a notebook, in nbformat 4 JSON, which may be damaged in any way. Changes nothing."""
    return _inspection(tuple(_joined(read_cells(notebook))), lesson)


@lru_cache(maxsize=32)  # a submission that is graded is looked at three times
def _inspection(cells: tuple[Cell, ...], lesson: Lesson) -> Inspection:
    return _Search(cells, lesson).inspection()


def _joined(cells: list[Cell]) -> list[Cell]:
    """The cells, with every second half of a function put back below its first half."""
    joined: list[Cell] = []
    for cell in cells:
        if joined and _may_continue(joined[-1], cell):
            whole = _join(joined[-1], cell)
            if code.defined(whole.source):
                joined[-1] = whole
                continue
        joined.append(cell)
    return joined


def _may_continue(head: Cell, tail: Cell) -> bool:
    is_code = head.kind == tail.kind == "code"
    return is_code and len(head.indices) < PIECES and code.begins_indented(tail.source)


def _join(head: Cell, tail: Cell) -> Cell:
    return Cell(
        head.indices + tail.indices,
        head.kind,
        head.source.rstrip("\n") + "\n" + tail.source,
        head.grade_id or tail.grade_id,
        head.ids | tail.ids,
    )


class _Search:
    """Looks for the cells of a lesson."""

    def __init__(self, cells: tuple[Cell, ...], lesson: Lesson):
        self.cells = cells
        self.lesson = lesson
        self.found: dict[str, Cell] = {}
        self.answering: dict[str, list[Cell]] = {}  # by the step's name, for those looked for
        # Where a step is judged has to be known before its answer is looked for.
        for slot in sorted(lesson.slots, key=lambda slot: slot.kind == SOLUTION):
            cell = self._solution(slot) if slot.kind == SOLUTION else self._given(slot)
            if cell is not None:
                self.found[slot.name] = cell

    def inspection(self) -> Inspection:
        findings = [
            Finding(kind, slot) for slot in self.lesson.slots for kind in self._matter_with(slot)
        ]
        leftovers = filter(self._is_leftover, self.cells)
        return Inspection(self.cells, self.found, tuple(leftovers), tuple(findings))

    # --- finding ---

    def _given(self, slot: Slot) -> Cell | None:
        """The cell of a slot whose text is the course's own, or a human's to read."""
        called = self._called(slot)
        if called or slot.kind == WRITTEN:
            return called[-1] if called else None
        nameless = self._nameless()
        alike = [cell for cell in nameless if code.same(cell.source, slot.source)]
        if not alike and slot.kind == SETUP:
            alike = [cell for cell in nameless if _similar(cell.source, slot.source)]
        return alike[0] if alike else None

    def _solution(self, slot: Slot) -> Cell | None:
        called = self._called(slot)
        for cells in (called, self.cells):
            if answers := self._answers(cells, slot):
                return self._in_force(answers, slot)
        for cells in (called, self.cells):
            if stubs := [cell for cell in cells if code.seems_to_define(cell.source, slot.name)]:
                return stubs[-1]
        return called[-1] if called else None

    def _answers(self, cells: Iterable[Cell], slot: Slot) -> list[Cell]:
        """Those of the cells that answer a step; text cells only if no code cell does."""
        name = slot.name
        if name not in self.answering:
            self.answering[name] = [c for c in self.cells if code.answers(c.source, name)]
        places = {cell.index for cell in cells}
        answers = [cell for cell in self.answering[name] if cell.index in places]
        return [cell for cell in answers if cell.kind == "code"] or answers

    def _in_force(self, answers: list[Cell], slot: Slot) -> Cell:
        """The last answer before the step is judged, or else the last of all."""
        before = [cell for cell in answers if cell.index < self._judged_at(slot)]
        return (before or answers)[-1]

    def _judged_at(self, slot: Slot) -> float:
        tests = (self.found.get(test.name) for test in self.lesson.tests_of(slot))
        return min((cell.index for cell in tests if cell is not None), default=float("inf"))

    def _called(self, slot: Slot) -> list[Cell]:
        by_grade_id = [cell for cell in self.cells if cell.grade_id == slot.name]
        return by_grade_id or [cell for cell in self.cells if slot.name in cell.ids]

    def _nameless(self) -> list[Cell]:
        names = {slot.name for slot in self.lesson.slots}
        return [cell for cell in self.cells if not names & {cell.grade_id, *cell.ids}]

    # --- judging ---

    def _matter_with(self, slot: Slot) -> Iterator[Kind]:
        cell, called = self.found.get(slot.name), self._called(slot)
        if cell is None:
            yield Kind.MISSING
            return
        if slot.kind == SOLUTION and cell not in called:
            yield Kind.SHARED if self._belongs_to_another(cell, slot) else Kind.ELSEWHERE
        elif slot.kind != SETUP and cell.grade_id != slot.name:
            yield Kind.UNMARKED
        if slot.kind == SOLUTION:
            yield from self._matter_with_answer(cell, slot)
        elif slot.kind == TEST and not code.same(cell.source, slot.source):
            yield Kind.EDITED
        if len(called) > 1 and not self._rivals(cell, slot):
            yield Kind.COPIED

    def _matter_with_answer(self, cell: Cell, slot: Slot) -> Iterator[Kind]:
        if len(cell.indices) > 1:
            yield Kind.SPLIT
        if cell.kind != "code":
            yield Kind.NOT_CODE
        if not code.answers(cell.source, slot.name):
            yield _without_answer(cell, slot)
        elif self._rivals(cell, slot):
            yield Kind.RIVALS
        elif self._others(cell, slot):
            yield Kind.ANOTHER

    def _rivals(self, cell: Cell, slot: Slot) -> list[Cell]:
        """Different answers that have as good a claim: copies, or, of an answer that was found by
        its name, whatever else defines that name."""
        called = self._called(slot)
        candidates = called if cell in called else self.cells
        return [other for other in self._answers(candidates, slot) if _differ(other, cell)]

    def _others(self, cell: Cell, slot: Slot) -> list[Cell]:
        answers = self._answers(self.cells, slot)
        return [other for other in answers if other.index > cell.index and _differ(other, cell)]

    def _belongs_to_another(self, cell: Cell, slot: Slot) -> bool:
        return any(other is not slot and cell in self._called(other) for other in self.lesson.slots)

    def _is_leftover(self, cell: Cell) -> bool:
        if cell.kind != "code":
            return False
        names = {
            slot.name
            for slot in self.lesson.slots
            if slot.kind == SOLUTION and code.defines(cell.source, slot.name)
        }
        in_force = (code.defined(self.found[name].source) for name in names)
        return (
            bool(names)
            and code.defined(cell.source) <= frozenset().union(*in_force)
            and not any(
                code.answers(cell.source, name) or not self._is_answered_apart_from(cell, name)
                for name in names
            )
        )

    def _is_answered_apart_from(self, cell: Cell, name: str) -> bool:
        found = self.found[name]
        return found != cell and code.answers(found.source, name)


def _without_answer(cell: Cell, slot: Slot) -> Kind:
    if code.parse(cell.source) is None:
        return Kind.BROKEN
    as_released = code.same(cell.source, slot.source)
    if as_released or code.defines(cell.source, slot.name) or code.is_blank(cell.source):
        return Kind.UNANSWERED
    return Kind.NAMELESS


def _similar(one: str, other: str) -> bool:
    matcher = SequenceMatcher(None, one, other, autojunk=False)
    return matcher.quick_ratio() >= SIMILAR and matcher.ratio() >= SIMILAR


def _differ(one: Cell, other: Cell) -> bool:
    return not code.same(one.source, other.source)
