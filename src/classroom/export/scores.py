"""What the gradebook holds of one assignment, with what is not graded told from zero."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from nbgrader.api import BaseCell, Grade, Gradebook, SubmittedAssignment, SubmittedNotebook


@dataclass(frozen=True)
class Score:
    """One student's points by graded cell (None: no grade yet), what was taken off for being late,
    and the cells that a human is to look at."""

    points: Mapping[str, float | None]
    penalty: float = 0.0
    to_look_at: tuple[str, ...] = ()

    @property
    def missing(self) -> list[str]:
        return [cell for cell, points in self.points.items() if points is None]

    @property
    def is_graded(self) -> bool:
        """Whether any cell has a grade."""
        return len(self.missing) < len(self.points)

    @property
    def total(self) -> float | None:
        """The points of the submission; None unless each of its cells has a grade."""
        if self.missing:
            return None
        return max(0.0, sum(self.points.values()) - self.penalty)


@dataclass(frozen=True)
class Scores:
    """An assignment: points that can be had, by graded cell, and who has how many."""

    assignment: str
    maximum: Mapping[str, float]
    by_student: Mapping[str, Score]

    @property
    def full(self) -> float:
        """The points that can be had in all."""
        return sum(self.maximum.values())

    def total(self, student: str) -> float | None:
        score = self.by_student.get(student)
        return score.total if score else None


def read_scores(gradebook: Gradebook, assignment: str) -> Scores:
    """Read all grades of an assignment, in one query however large the class is.

    Raises:
        MissingEntry: the gradebook does not know the assignment.
    """
    found = gradebook.find_assignment(assignment)
    cells = [
        cell
        for notebook in found.notebooks
        for cell in [*notebook.grade_cells, *notebook.task_cells]
    ]
    maximum = {cell.name: cell.max_score for cell in cells}
    grades = defaultdict(dict)
    for student, cell, grade in _grades(gradebook, found.id):
        grades[student][cell] = grade
    penalties = _penalties(gradebook, found.id)
    scores = {
        student: _score(grades[student], maximum, penalty) for student, penalty in penalties.items()
    }
    return Scores(assignment, maximum, scores)


def _score(grades: Mapping[str, Grade], cells: Mapping[str, float], penalty: float) -> Score:
    points = {cell: _points(grades.get(cell)) for cell in cells}
    return Score(points, penalty, tuple(c for c in cells if _awaits_human(grades.get(c))))


def _points(grade: Grade | None) -> float | None:
    if grade is None or (grade.auto_score is None and grade.manual_score is None):
        return None
    return grade.score


def _awaits_human(grade: Grade | None) -> bool:
    return grade is None or grade.needs_manual_grade


def _grades(gradebook: Gradebook, assignment_id: str):
    return (
        gradebook.db.query(SubmittedAssignment.student_id, BaseCell.name, Grade)
        .join(SubmittedNotebook, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
        .join(Grade, Grade.notebook_id == SubmittedNotebook.id)
        .join(BaseCell, BaseCell.id == Grade.cell_id)
        .filter(SubmittedAssignment.assignment_id == assignment_id)
    )


def _penalties(gradebook: Gradebook, assignment_id: str) -> dict[str, float]:
    """What being late cost, by student who handed in."""
    rows = (
        gradebook.db.query(
            SubmittedAssignment.student_id, SubmittedNotebook.late_submission_penalty
        )
        .outerjoin(SubmittedNotebook, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
        .filter(SubmittedAssignment.assignment_id == assignment_id)
    )
    penalties = defaultdict(float)
    for student, penalty in rows:
        penalties[student] += penalty or 0.0
    return dict(penalties)
