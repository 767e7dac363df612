"""What a graded class shows, in numbers."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, median

from attention_lab.check import STEPS, catalogue
from classroom.class_report.reading import UNNAMED, UNWRITTEN, GradedClass, Submission
from classroom.points import bare

LAST = (UNNAMED, UNWRITTEN)  # no misconceptions, so below them
BARS = 12
HEADLINES = 5
AT_LEAST = 2  # students, for a headline


@dataclass(frozen=True)
class Misconception:
    """How many students show it: by step, in which any were, and anywhere. slug: its name, meaning:
    what it shows that they believe."""

    slug: str
    meaning: str
    by_step: Mapping[str, int]
    students: int

    @property
    def words(self) -> str:
        return self.slug.replace("-", " ")


@dataclass(frozen=True)
class Headline:
    """One misconception in one step, and its students."""

    step: str
    words: str
    meaning: str
    students: int
    share: float


@dataclass(frozen=True)
class Step:
    """How a step went: students by outcome, and the mean of the points of those graded."""

    name: str
    maximum: float
    right: int
    wrong: int
    unwritten: int
    ungraded: int
    mean: float | None


@dataclass(frozen=True)
class Bar:
    """Students whose total is at least `start` and below `end`; the last bar includes its end."""

    start: float
    end: float
    students: int


@dataclass(frozen=True)
class Totals:
    """The distribution of points over the submissions that are graded in every cell."""

    bars: Sequence[Bar]
    students: int
    mean: float | None
    median: float | None


def misconceptions(graded: GradedClass) -> list[Misconception]:
    """What was met in the class, the most frequent first."""
    by_step: dict[str, Counter] = {}
    students: Counter = Counter()
    for submission in graded.submissions:
        for step, slugs in submission.mistakes.items():
            for slug in slugs:
                by_step.setdefault(slug, Counter())[step] += 1
        students.update({slug for slugs in submission.mistakes.values() for slug in slugs})
    found = [
        Misconception(slug, _meaning(counts.most_common(1)[0][0], slug), counts, students[slug])
        for slug, counts in by_step.items()
    ]
    return sorted(found, key=lambda m: (m.slug in LAST, -m.students, m.slug))


def headlines(graded: GradedClass) -> list[Headline]:
    """The misconceptions that most students show in one step."""
    size = len(graded.submissions)
    found = [
        Headline(step, one.words, _meaning(step, one.slug), count, count / size)
        for one in misconceptions(graded)
        if one.slug not in LAST
        for step, count in one.by_step.items()
        if count >= AT_LEAST
    ]
    return sorted(found, key=lambda h: (-h.students, h.step, h.words))[:HEADLINES]


def steps(graded: GradedClass) -> list[Step]:
    return [_step(graded, name, maximum) for name, maximum in graded.maximum.items()]


def totals(graded: GradedClass) -> Totals:
    points = [s.total for s in graded.submissions if s.total is not None]
    full = sum(graded.maximum.values())
    width = max(1, math.ceil(full / BARS))
    count = max(1, math.ceil(full / width))
    counts = Counter(min(int(total // width), count - 1) for total in points)
    bars = [Bar(i * width, min((i + 1) * width, full), counts[i]) for i in range(count)]
    middle = (mean(points), median(points)) if points else (None, None)
    return Totals(bars, len(points), *middle)


def notes(graded: GradedClass) -> list[tuple[str, list[str]]]:
    """The reasons for which a human should look, each with the students, most frequent first."""
    found: dict[str, list[str]] = {}
    for submission in graded.submissions:
        for note in dict.fromkeys(submission.notes):
            found.setdefault(note, []).append(submission.student)
    return sorted(found.items(), key=lambda item: (-len(item[1]), item[0]))


def _step(graded: GradedClass, name: str, maximum: float) -> Step:
    outcomes = Counter(_outcome(submission, name, maximum) for submission in graded.submissions)
    points = [submission.points.get(name) for submission in graded.submissions]
    known = [value for value in points if value is not None]
    return Step(
        name,
        maximum,
        outcomes["right"],
        outcomes["wrong"],
        outcomes["unwritten"],
        outcomes["ungraded"],
        mean(known) if known else None,
    )


def _outcome(submission: Submission, step: str, maximum: float) -> str:
    points = submission.points.get(step)
    if points is None:
        return "ungraded"
    if points >= maximum:
        return "right"
    return "unwritten" if UNWRITTEN in submission.mistakes.get(step, ()) else "wrong"


def _meaning(step: str, slug: str) -> str:
    """The first sentence of what the catalogue says; "" for what it does not know."""
    step = bare(step)
    known = catalogue.explain(step, slug) if step in STEPS else None
    return known.means.split(". ")[0].rstrip(".") + "." if known else ""
