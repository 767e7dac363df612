"""Whose points differ once a trial is applied, in which cells, and why."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from nbgrader.api import Gradebook
from nbgrader.coursedir import CourseDirectory

from classroom.graded import read_graded
from classroom.regrade.definition import Cell, Definition, read_definition
from classroom.regrade.marks import CellName, Mark, Marks, Note, read_marks
from classroom.regrade.trial import Trial, trial_course

Back = Mapping[CellName, CellName]  # the old name of a renamed cell, by its new one
JUDGED_ANEW = "the same cell, judged anew"


@dataclass(frozen=True)
class CellChange:
    """The points of a cell before and after (None: no points, or no such cell), and why."""

    cell: CellName
    before: float | None
    after: float | None
    why: str


@dataclass(frozen=True)
class StudentChange:
    """A student's total before and after, and the cells in which points differ."""

    student: str
    before: float
    after: float
    cells: Sequence[CellChange]


@dataclass(frozen=True)
class Changes:
    """What applying a trial comes to.

    definition: the cells as they will be. maximum: the points that can be had, before and after.
    before, after: what every student has. cells: what is new
    about a cell, in words. students: whose points change. by_hand: cells that a human has graded
    and should look at again, by student.
    """

    definition: Definition
    maximum: tuple[float, float]
    before: Mapping[str, Marks]
    after: Mapping[str, Marks]
    cells: Mapping[CellName, str]
    students: Sequence[StudentChange]
    by_hand: Mapping[str, Sequence[CellName]]


def find_changes(course: CourseDirectory, assignment: str, trial: Trial) -> Changes:
    """Compare the gradebook as it is now with what a trial found."""
    aside = trial_course(course, assignment)
    with Gradebook(course.db_url, course.course_id) as gradebook:
        old, before = read_definition(gradebook, assignment), read_marks(gradebook, assignment)
    with Gradebook(aside.db_url, course.course_id) as gradebook:
        new, tried = read_definition(gradebook, assignment), read_marks(gradebook, assignment)
    back = {
        (notebook, new_name): (notebook, old_name)
        for notebook, renamed in trial.renamed.items()
        for old_name, new_name in renamed.items()
        if old_name in old[notebook]  # else an apply was cut off after the renaming
    }
    cells = changed_cells(old, new, back)
    before = {student: marks for student, marks in before.items() if student in tried}
    after = {
        student: regraded(marks, tried[student], back, cells)
        if student in trial.students
        else kept(marks, tried[student], back)
        for student, marks in before.items()
    }
    students = [
        StudentChange(student, before[student].total, after[student].total, changed)
        for student in sorted(after)
        if (changed := points_changed(before[student], after[student], back, cells))
        or before[student].total != after[student].total
    ]
    named = [_with_misconceptions(s, course, aside, assignment, back) for s in students]
    by_hand = {
        student: found
        for student in sorted(after)
        if (found := _to_look_at(before[student], after[student], back))
    }
    maximum = tuple(sum(cell.points for cell in _flat(d).values()) for d in (old, new))
    return Changes(new, maximum, before, after, cells, named, by_hand)


def changed_cells(old: Definition, new: Definition, back: Back) -> dict[CellName, str]:
    """What is new about the cells that can have points, in words; of the others, nothing."""
    words = {}
    for name, cell in _flat(new).items():
        was = _flat(old).get(back.get(name, name))
        if found := _difference(was, cell, back.get(name)):
            words[name] = found
    gone = _flat(old).keys() - _flat(new).keys() - set(back.values())
    return words | dict.fromkeys(sorted(gone), "removed")


def _flat(definition: Definition) -> dict[CellName, Cell]:
    return {
        (notebook, name): cell
        for notebook, cells in definition.items()
        for name, cell in cells.items()
        if cell.points is not None
    }


def _difference(was: Cell | None, cell: Cell, old_name: CellName | None) -> str:
    if was is None:
        return f"new, {cell.points:g} points"
    found = [f"{old_name[1]} until now"] if old_name else []
    if was.points != cell.points:
        found.append(f"{cell.points:g} points, {was.points:g} until now")
    if (was.source, was.cell_type) != (cell.source, cell.cell_type):
        found.append("another text")
    return "; ".join(found)


def regraded(old: Marks, tried: Marks, back: Back, changed: Mapping[CellName, str]) -> Marks:
    """What a student has once a trial is applied: its automatic points, and a human's as before."""
    cells = {}
    for name, mark in tried.cells.items():
        was = old.cells.get(back.get(name, name), Mark())
        needs_human = mark.needs_human
        if was.manual is not None:
            needs_human = was.needs_human or mark.auto != was.auto or name in changed
        cells[name] = replace(was, auto=mark.auto, needs_human=needs_human)
    notes = {
        name: Note(note.auto, _note_before(old, name, back).manual)
        for name, note in tried.notes.items()
    }
    flagged = {name: old.flagged.get(name) or found for name, found in tried.flagged.items()}
    return Marks(tried.timestamp, cells, notes, tried.penalties, flagged)


def kept(old: Marks, tried: Marks, back: Back) -> Marks:
    """What a student has whose work could not be graded again: what there was, in the new cells."""
    cells = {name: old.cells.get(back.get(name, name), Mark()) for name in tried.cells}
    notes = {name: _note_before(old, name, back) for name in tried.notes}
    return Marks(old.timestamp, cells, notes, old.penalties, old.flagged)


def _note_before(old: Marks, name: CellName, back: Back) -> Note:
    return old.notes.get(back.get(name, name), Note(None, None))


def points_changed(
    before: Marks, after: Marks, back: Back, changed: Mapping[CellName, str]
) -> list[CellChange]:
    """The cells in which a student's points differ, in the order of their names."""
    pairs = {name: back.get(name, name) for name in after.cells}
    pairs |= {name: name for name in before.cells.keys() - set(pairs.values())}
    found = []
    for name, old_name in sorted(pairs.items()):
        was, now = before.cells.get(old_name, Mark()).score, after.cells.get(name, Mark()).score
        if was != now:
            found.append(CellChange(name, was, now, changed.get(name, JUDGED_ANEW)))
    return found


def _to_look_at(before: Marks, after: Marks, back: Back) -> list[CellName]:
    return [
        name
        for name, mark in sorted(after.cells.items())
        if mark.manual is not None
        and mark.needs_human
        and not before.cells.get(back.get(name, name), Mark()).needs_human
    ]


def _with_misconceptions(
    change: StudentChange,
    course: CourseDirectory,
    aside: CourseDirectory,
    assignment: str,
    back: Back,
) -> StudentChange:
    """Add to each cell what its check recognises now and did not before."""
    was, now = (_misconceptions(place, assignment, change.student) for place in (course, aside))
    cells = [
        replace(cell, why=f"{cell.why}: {slug}")
        if (slug := now.get(cell.cell)) and slug != was.get(back.get(cell.cell, cell.cell))
        else cell
        for cell in change.cells
    ]
    return replace(change, cells=cells)


def _misconceptions(course: CourseDirectory, assignment: str, student: str) -> dict[CellName, str]:
    return {
        (name, cell): slug
        for name, notebook in read_graded(course, assignment, student).items()
        for cell, slug in notebook.misconceptions.items()
    }
