"""The points of a class on an assignment, as the gradebook has them; not graded is told from zero.

A graded cell is called by its grade id. Where several notebooks of the assignment have the step,
the notebook stands before it: `part2/test_double_value`.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from nbgrader.api import (
    BaseCell,
    Grade,
    Gradebook,
    Notebook,
    SubmittedAssignment,
    SubmittedNotebook,
)

IN_NOTEBOOK = "/"
TEST = re.compile(rf"((?:.*{IN_NOTEBOOK})?)test_(.+)_(?:shape|value)")


def step_of(cell: str) -> str:
    """The step that a graded cell belongs to.

    >>> step_of("test_split_heads_value"), step_of("part2/test_split_heads_value")
    ('split_heads', 'part2/split_heads')
    >>> step_of("essay")
    'essay'
    """
    match = TEST.fullmatch(cell)
    return match[1] + match[2] if match else cell


def bare(name: str) -> str:
    """The name of a cell or step without its notebook.

    >>> bare("part2/essay"), bare("essay")
    ('essay', 'essay')
    """
    return name.rpartition(IN_NOTEBOOK)[2]


@dataclass(frozen=True)
class Names:
    """What the cells of an assignment are called. shared: steps that several notebooks have."""

    shared: frozenset[str] = frozenset()

    @classmethod
    def of(cls, cells: Iterable[tuple[str, str]]) -> "Names":
        """The names of cells that are given by notebook and grade id."""
        homes = Counter(step for _, step in {(home, step_of(cell)) for home, cell in cells})
        return cls(frozenset(step for step, count in homes.items() if count > 1))

    def __call__(self, notebook: str, grade_id: str) -> str:
        return notebook + IN_NOTEBOOK + grade_id if step_of(grade_id) in self.shared else grade_id


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
    def so_far(self) -> float:
        """The points of the cells that have a grade."""
        return max(0.0, sum(filter(None, self.points.values())) - self.penalty)

    @property
    def total(self) -> float | None:
        """The points of the submission; None unless each of its cells has a grade."""
        return None if self.missing else self.so_far


@dataclass(frozen=True)
class Scores:
    """An assignment: points that can be had, by graded cell, and who has how many."""

    assignment: str
    maximum: Mapping[str, float]
    by_student: Mapping[str, Score]
    name: Names = field(default=Names(), compare=False)

    @property
    def full(self) -> float:
        """The points that can be had in all."""
        return sum(self.maximum.values())

    def total(self, student: str) -> float | None:
        score = self.by_student.get(student)
        return score.total if score else None


def by_step(points: Mapping[str, float | None]) -> dict[str, float | None]:
    """The points of a step are those of its cells; None if one of them has none."""
    total: dict[str, float | None] = {}
    for cell, value in points.items():
        step = step_of(cell)
        before = total.get(step, 0.0)
        total[step] = None if value is None or before is None else before + value
    return total


def read_scores(gradebook: Gradebook, assignment: str) -> Scores:
    """Read all grades of an assignment, in a few queries however large the class is.

    Raises:
        MissingEntry: the gradebook does not know the assignment.
    """
    found = gradebook.find_assignment(assignment)
    cells = {
        (notebook.name, cell.name): cell.max_score
        for notebook in found.notebooks
        for cell in [*notebook.grade_cells, *notebook.task_cells]
    }
    name = Names.of(cells)
    grades = defaultdict(dict)
    for student, notebook, cell, grade in _grades(gradebook, found.id):
        grades[student][name(notebook, cell)] = grade
    maximum = {name(*cell): points for cell, points in cells.items()}
    penalties = _penalties(gradebook, found.id)
    scores = {
        student: _score(grades[student], maximum, penalty) for student, penalty in penalties.items()
    }
    return Scores(assignment, maximum, scores, name)


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
        gradebook.db.query(SubmittedAssignment.student_id, Notebook.name, BaseCell.name, Grade)
        .join(SubmittedNotebook, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
        .join(Notebook, Notebook.id == SubmittedNotebook.notebook_id)
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
