"""The points of a class on an assignment, as plain data."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from nbgrader.api import (
    Assignment,
    BaseCell,
    Comment,
    Grade,
    Gradebook,
    Notebook,
    SubmittedAssignment,
    SubmittedNotebook,
)
from sqlalchemy import Select, select

CellName = tuple[str, str]  # notebook, grade id


@dataclass(frozen=True)
class Mark:
    """The points of one cell. auto: the autograder's; manual and extra: a human's."""

    auto: float | None = None
    manual: float | None = None
    extra: float | None = None
    needs_human: bool = True

    @property
    def score(self) -> float | None:
        """What counts; None if the cell has no points yet."""
        given = self.auto if self.manual is None else self.manual
        return None if given is None else given + (self.extra or 0.0)


@dataclass(frozen=True)
class Note:
    """The comments on one cell."""

    auto: str | None
    manual: str | None


@dataclass(frozen=True)
class Marks:
    """What a student has for an assignment.

    penalties, for handing in late, and flagged, for a human to look at: by notebook.
    """

    timestamp: datetime | None = None
    cells: Mapping[CellName, Mark] = field(default_factory=dict)
    notes: Mapping[CellName, Note] = field(default_factory=dict)
    penalties: Mapping[str, float | None] = field(default_factory=dict)
    flagged: Mapping[str, bool] = field(default_factory=dict)

    @property
    def total(self) -> float:
        points = sum(mark.score or 0.0 for mark in self.cells.values())
        return max(0.0, points - sum(penalty or 0.0 for penalty in self.penalties.values()))


def read_marks(gradebook: Gradebook, assignment: str) -> dict[str, Marks]:
    """What every student has whose submission of an assignment is in the gradebook."""
    submissions = select(SubmittedAssignment.student_id, SubmittedAssignment.timestamp)
    notebooks = select(
        SubmittedAssignment.student_id, Notebook.name,
        SubmittedNotebook.late_submission_penalty, SubmittedNotebook.flagged,
    ).select_from(SubmittedNotebook)  # fmt: skip
    rows = gradebook.db.execute
    marks = {
        student: Marks(timestamp, {}, {}, {}, {})
        for student, timestamp in rows(of_assignment(submissions, assignment))
    }
    for student, notebook, penalty, flagged in rows(of_notebooks(notebooks, assignment)):
        marks[student].penalties[notebook] = penalty
        marks[student].flagged[notebook] = flagged
    for _, student, *cell, auto, manual, extra, needs in rows(
        of_cells(
            Grade, assignment,
            Grade.auto_score, Grade.manual_score, Grade.extra_credit, Grade.needs_manual_grade,
        )
    ):  # fmt: skip
        marks[student].cells[tuple(cell)] = Mark(auto, manual, extra, needs)
    for _, student, *cell, auto, manual in rows(
        of_cells(Comment, assignment, Comment.auto_comment, Comment.manual_comment)
    ):
        marks[student].notes[tuple(cell)] = Note(auto, manual)
    return marks


def of_assignment(query: Select, assignment: str) -> Select:
    """A query of submitted assignments, for one assignment."""
    return query.join(Assignment, SubmittedAssignment.assignment_id == Assignment.id).where(
        Assignment.name == assignment
    )


def of_notebooks(query: Select, assignment: str) -> Select:
    """A query of submitted notebooks, for one assignment."""
    joined = query.join(Notebook, SubmittedNotebook.notebook_id == Notebook.id).join(
        SubmittedAssignment, SubmittedNotebook.assignment_id == SubmittedAssignment.id
    )
    return of_assignment(joined, assignment)


def of_cells(model: type[Grade] | type[Comment], assignment: str, *columns) -> Select:
    """A query of one row a cell of a submission: id, student, notebook, grade id, the columns."""
    query = (
        select(model.id, SubmittedAssignment.student_id, Notebook.name, BaseCell.name, *columns)
        .select_from(model)
        .join(BaseCell, model.cell_id == BaseCell.id)
        .join(SubmittedNotebook, model.notebook_id == SubmittedNotebook.id)
    )
    return of_notebooks(query, assignment)
