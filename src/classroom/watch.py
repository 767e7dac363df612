"""`python -m classroom.grade --watch`: grade what arrives, as it arrives.

What lies in `submitted/`, and in nbgrader's exchange where there is one, is looked at every few
seconds. All that is known is on the disk: whoever stops this and starts it again loses nothing.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from nbgrader.coursedir import CourseDirectory

from classroom.course import autograded_folder, submitted_folder
from classroom.grading.record import graded_inputs, inputs_of, is_unfinished
from classroom.people import DueDates, roster_of
from classroom.report import ClassReport, listing
from classroom.ungraded import submitted_names

SECONDS = 5.0  # between two looks


@dataclass
class Watch:
    """What was seen of submissions: what stands for each when it was looked at last, and when it
    was graded last."""

    course: CourseDirectory
    assignment: str
    due: DueDates
    seen: dict[str, str] = field(default_factory=dict)
    tried: dict[str, str] = field(default_factory=dict)

    def look(self) -> tuple[list[str], list[str]]:
        """Students whose work is to be graded, and those whose work is still being written."""
        self.due.forget()
        now = dict(self._waiting())
        settled = [student for student in now if self.seen.get(student) == now[student]]
        self.seen = now
        return settled, sorted(now.keys() - set(settled))

    def graded(self, students: Sequence[str]) -> None:
        """Note that these were graded, or could not be: not to be tried again as they are."""
        self.tried |= {student: self.seen[student] for student in students}

    def _waiting(self) -> Iterator[tuple[str, str]]:
        for student in submitted_names(self.course, self.assignment):
            folder = submitted_folder(self.course, self.assignment, student)
            inputs = inputs_of(folder, self.due(self.assignment, student))
            if inputs != self.tried.get(student) and not self._has_grade(student, inputs):
                yield student, inputs

    def _has_grade(self, student: str, inputs: str) -> bool:
        folder = autograded_folder(self.course, self.assignment, student)
        if not folder.is_dir() or is_unfinished(folder):
            return False
        return (graded_inputs(folder) or {inputs}) == {inputs}


def watch(
    course: CourseDirectory,
    assignments: Sequence[str],
    config,
    collect: Callable[[str], None],
    grade: Callable[[str, Sequence[str]], ClassReport],
    wait: Callable[[float], None] = time.sleep,
) -> None:
    """Look and grade, for ever.

    collect: fetches an assignment's submissions from the exchange. grade: grades what has no grade,
    but for the students that are named, and writes their feedback.
    """
    watches = [
        Watch(course, assignment, DueDates(course, roster_of(course, config)))
        for assignment in assignments
    ]
    print(f"Watching {Path(course.root, course.submitted_directory)}; Ctrl-C ends it", flush=True)
    while True:
        for one in watches:
            collect(one.assignment)
            students, unsettled = one.look()
            if students:
                report = grade(one.assignment, unsettled)
                one.graded(students)
                print(lines(report, students), flush=True)
        wait(SECONDS)


def lines(report: ClassReport, students: Sequence[str]) -> str:
    """A line for each of these students: the points, and what a human should look at."""
    full = sum(report.maximum.values())
    found: Mapping[str, str] = {
        row.student: "; ".join([f"{row.total:g} of {full:g}", *row.notes]) for row in report.rows
    }
    found = {**found, **{student: f"no grade: {why}" for student, why in report.ungraded.items()}}
    title = f"{time.strftime('%H:%M')} {report.assignment}"
    return listing(title, [(student, found[student]) for student in students if student in found])
