"""Graded classes, made up."""

import pytest

from classroom.class_report.reading import GradedClass, Submission

MAXIMUM = {"split_heads": 3.0, "attend": 2.0}


@pytest.fixture
def graded():
    """Makes a class of students, each given by the mistakes in steps; a step with one has 1 point
    less. `None` for a step means that it has no grade."""

    def graded(*students, ungraded=(), **more):
        submissions = []
        for number, mistakes in enumerate(students, start=1):
            points = {
                step: None if step in mistakes and mistakes[step] is None else
                full - (step in mistakes) for step, full in MAXIMUM.items()
            }  # fmt: skip
            known = {step: slugs for step, slugs in mistakes.items() if slugs is not None}
            total = None if None in points.values() else sum(points.values())
            submissions.append(Submission(f"student-{number}", points, total, known, **more))
        return GradedClass("mha", MAXIMUM, submissions, dict(ungraded))

    return graded
