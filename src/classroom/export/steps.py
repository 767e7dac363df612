"""A sheet for the teachers: every graded cell of every student."""

from collections.abc import Iterable, Sequence

from classroom.export.base import TableExporter
from classroom.export.table import harmless, number
from classroom.graded import flags_of
from classroom.points import Score, Scores
from classroom.roster import Person
from classroom.ungraded import reason

LAST = ("total", "late penalty", "needs a human")


class StepsExporter(TableExporter):
    """Writes steps.csv: points by graded cell, the row of the points that can be had first."""

    default_file = "steps.csv"
    encoding = "utf-8-sig"  # spreadsheets take a file without the mark for their country's own

    def rows(self, people: Sequence[Person], scores: Sequence[Scores]) -> Iterable[Sequence[str]]:
        yield ["student", "name", *(f"{s.assignment} {c}" for s in scores for c in _columns(s))]
        full = [[*map(number, s.maximum.values()), number(s.full), "", ""] for s in scores]
        yield ["points possible", "", *(cell for one in full for cell in one)]
        for person in people:
            cells = [cell for one in scores for cell in self._cells(one, person.student)]
            yield [harmless(person.student), harmless(person.name), *cells]

    def _cells(self, scores: Scores, student: str) -> list[str]:
        score = scores.by_student.get(student)
        if score is None:
            return [""] * len(_columns(scores))
        points = [number(points) for points in score.points.values()]
        reasons = "; ".join(self._reasons(scores.assignment, student, score))
        return [*points, number(score.total), number(score.penalty), harmless(reasons)]

    def _reasons(self, assignment: str, student: str, score: Score) -> Iterable[str]:
        if not score.is_graded:
            yield reason(self.parent.coursedir, assignment, student) or "not graded yet"
            return
        yield from (f"{cell} is to be looked at" for cell in score.to_look_at)
        found, _ = flags_of(self.parent.coursedir, assignment, student)
        yield from found


def _columns(scores: Scores) -> list[str]:
    return [*scores.maximum, *LAST]
