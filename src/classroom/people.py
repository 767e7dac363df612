"""What the roster adds to the gradebook: students' names, and when the work of each is due."""

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache, cached_property
from pathlib import Path

from nbformat import NotebookNode
from nbgrader.api import Gradebook, MissingEntry, Student, SubmittedAssignment
from nbgrader.coursedir import CourseDirectory
from traitlets import List
from traitlets.config import Config

from classroom import gradebook as gradebooks
from classroom.course import source_folder
from classroom.preprocessors import CoursePreprocessor
from classroom.roster import DUE, Person, Roster, read_roster
from classroom.times import in_words

NO_DATE = (
    "The roster says when the work of some students is due, and the gradebook not when {0} is: "
    'nbgrader db assignment add {0} --duedate="2026-11-30 23:59 UTC"'
)


def roster_of(course: CourseDirectory, config: Config) -> Roster:
    """The course's roster; an empty one if there is none.

    Raises:
        ValueError: it cannot be read, or leaves open what it means.
    """
    name = config.LmsCollector.get("roster", "roster.csv")
    path = Path(course.root, name)
    roster = read_roster(path) if path.exists() else Roster()
    assignments = sorted(folder.name for folder in source_folder(course, "").glob("*/"))
    if len(assignments) > 1 and any("" in person.due for person in roster.people):
        raise ValueError(
            f"{path}: a column says when work is due, but not of which assignment: call it "
            + " or ".join(f"due {assignment}" for assignment in assignments)
        )
    return roster


def enter_names(course: CourseDirectory, roster: Roster) -> None:
    """Give the students in the gradebook the names they have in the roster."""
    if not roster.people:
        return
    gradebooks.create(course.db_url)
    with Gradebook(course.db_url, course.course_id) as gradebook:
        for student in gradebook.db.query(Student):
            if person := roster.by_student.get(student.id):
                _name(student, person)
        gradebook.db.commit()


def due_in(roster: Roster, assignment: str) -> dict[str, datetime] | None:
    """When work is due for those whom the roster gives a time of their own, in UTC; None if it has
    no column for that."""
    columns = {match[1] or "" for name in roster.columns if (match := DUE.fullmatch(name))}
    if columns.isdisjoint({"", assignment}):
        return None
    return {
        person.student: when.astimezone(UTC).replace(tzinfo=None)
        for person in roster.people
        if (when := person.due.get(assignment) or person.due.get(""))
    }


class DueDates:
    """When the work of a student is due, by the roster and then by the gradebook."""

    def __init__(self, course: CourseDirectory, roster: Roster):
        self._course, self._roster = course, roster
        self._of = cache(self._read)

    def __call__(self, assignment: str, student: str) -> datetime | None:
        """In UTC, without saying so, as the gradebook has it; None if it is not due."""
        due, by_student = self._of(assignment)
        return by_student.get(student, due)

    def forget(self) -> None:
        self._of.cache_clear()

    def _read(self, assignment: str) -> tuple[datetime | None, Mapping[str, datetime]]:
        gradebooks.create(self._course.db_url)
        with Gradebook(self._course.db_url, self._course.course_id) as gradebook:
            try:
                found = gradebook.find_assignment(assignment)
            except MissingEntry:
                return None, {}
            if found.duedate is None:
                return None, {}
            query = gradebook.db.query(SubmittedAssignment).filter_by(assignment_id=found.id)
            given = {one.student_id: one.duedate for one in query if one.extension}
            own = due_in(self._roster, assignment)
            return found.duedate, given if own is None else own


class EnterPerson(CoursePreprocessor):
    """Enters a student's name, and an extension of the due date, from the roster."""

    @cached_property
    def _warn_once(self):
        return cache(self.log.warning)

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        names, roster = resources["nbgrader"], self.parent.grading.roster
        if not roster.people:
            return nb, resources
        due = due_in(roster, names["assignment"])
        person = roster.by_student.get(names["student"])
        with Gradebook(names["db_url"]) as gradebook:
            submission = gradebook.find_submission(names["assignment"], names["student"])
            if person:
                _name(submission.student, person)
            if due and submission.assignment.duedate is None:
                self._warn_once(NO_DATE.format(names["assignment"]))
            elif due is not None:
                own, usual = due.get(names["student"]), submission.assignment.duedate
                submission.extension = own - usual if own else None
            gradebook.db.commit()
        return nb, resources


class TellDates(CoursePreprocessor):
    """Puts into words, for the feedback page, when the work was handed in and when it was due."""

    display_data_priority = List(help="nbconvert sets it for every pass.").tag(config=True)

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        names = resources["nbgrader"]
        with Gradebook(names["db_url"]) as gradebook:
            submission = gradebook.find_submission(names["assignment"], names["student"])
            due = submission.assignment.duedate and submission.duedate
            names["dates"] = dates_in_words(submission.timestamp, due)
        return nb, resources


def dates_in_words(handed_in: datetime | None, due: datetime | None) -> str:
    """When work was handed in and when it was due, in this computer's time zone, which is named.

    Both are in UTC, without saying so. "" if neither is known.
    """
    found = {"handed in": handed_in, "due": due}
    words = [f"{what} {in_words(when)}" for what, when in found.items() if when]
    text = ", ".join(words)
    return f"{text[0].upper()}{text[1:]}." if text else ""


def _name(student: Student, person: Person) -> None:
    if person.first or person.last:
        student.first_name, student.last_name = person.first, person.last
