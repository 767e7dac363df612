"""What is known of a graded class: from the gradebook, and from the autograded notebooks."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from nbgrader.api import Gradebook
from nbgrader.coursedir import CourseDirectory

from classroom.graded import Graded, read_graded
from classroom.grading.record import Record
from classroom.points import Score, Scores, by_step, read_scores, step_of
from classroom.stub import STUB
from classroom.ungraded import submitted_names, without_grade

UNNAMED = "another mistake"
UNWRITTEN = "not written"


@dataclass(frozen=True)
class Submission:
    """One student's work.

    points: by step; None where one of its cells has no grade. total: None unless all have one.
    mistakes: by step in which points are lost, the misconceptions recognised there, as slugs; or
    UNNAMED, or UNWRITTEN. answers: the code of each step that was written. notes: why a human
    should look, in words that name nobody.
    """

    student: str
    points: Mapping[str, float | None]
    total: float | None
    mistakes: Mapping[str, Sequence[str]] = field(default_factory=dict)
    answers: Mapping[str, str] = field(default_factory=dict)
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class GradedClass:
    """The submissions to one assignment, the points of its steps, and why others have no grade."""

    assignment: str
    maximum: Mapping[str, float]
    submissions: Sequence[Submission]
    ungraded: Mapping[str, str] = field(default_factory=dict)


def read_class(course: CourseDirectory, assignment: str) -> GradedClass:
    """Read how a class did.

    Raises:
        MissingEntry: the gradebook does not know the assignment.
    """
    with Gradebook(course.db_url, course.course_id) as gradebook:
        scores = read_scores(gradebook, assignment)
    ungraded = without_grade(course, assignment, submitted_names(course, assignment), {})
    submissions = [
        _submission(student, score, scores, read_graded(course, assignment, student))
        for student, score in sorted(scores.by_student.items())
        if student not in ungraded
    ]
    return GradedClass(assignment, by_step(scores.maximum), submissions, ungraded)


def _submission(
    student: str, score: Score, scores: Scores, notebooks: Mapping[str, Graded]
) -> Submission:
    records = [notebook.record for notebook in notebooks.values() if notebook.record]
    named = {
        scores.name(name, cell): slug
        for name, notebook in notebooks.items()
        for cell, slug in notebook.misconceptions.items()
    }
    answers = {
        scores.name(name, cell): source
        for name, notebook in notebooks.items()
        for cell, source in notebook.answers.items()
        if _is_written(source)
    }
    return Submission(
        student,
        by_step(score.points),
        score.total,
        _mistakes(score, scores, named, answers),
        answers,
        tuple(_notes(score, records)),
    )


def _is_written(source: str) -> bool:
    return bool(source.strip()) and STUB not in source


def _mistakes(
    score: Score, scores: Scores, named: Mapping[str, str], answers: Mapping[str, str]
) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for cell, points in score.points.items():
        if points is not None and points < scores.maximum[cell]:
            slugs = found.setdefault(step_of(cell), [])
            slug = named.get(cell)
            slugs += [slug] if slug and slug not in slugs else []
    return {
        step: slugs or [UNNAMED if step in answers else UNWRITTEN] for step, slugs in found.items()
    }


def _notes(score: Score, records: Iterable[Record]) -> Iterable[str]:
    for cell in score.to_look_at:
        if score.points[cell] is None:
            yield f"{cell} has no points yet: the cell is missing or is graded by hand"
        else:
            yield f"{cell} was graded by hand before: look whether the points still hold"
    for record in records:
        yield from record.flags
        if record.isolation == "none":
            yield "graded without a sandbox"
