"""What the exporters share: whom and what to export, and what has to be said about it."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from nbgrader.api import Gradebook, MissingEntry
from nbgrader.plugins import ExportPlugin
from traitlets import Bool, Dict, Unicode

from classroom.course import UnusualCourse, require_usual, source_folder
from classroom.export.table import looks_like_formula, write_table
from classroom.points import Scores, read_scores
from classroom.roster import Person, Roster, read_roster
from classroom.ungraded import reason, submitted_names


class TableExporter(ExportPlugin):
    """Exports one row a person. Options are those of nbgrader's own: --to, --assignment, --student.

    A subclass gives `default_file` and `rows`.
    """

    roster = Unicode(
        "roster.csv", help="Who is who, below the course's folder; see classroom.roster."
    ).tag(config=True)
    titles = Dict(
        help='What the LMS calls an assignment, such as {"mha": "Multi-head attention"}.'
    ).tag(config=True)
    only_graded = Bool(
        False,
        help="Leave out whoever has no grade, as an empty cell clears one that the LMS has, and "
        "the points that can be had.",
    ).tag(config=True)
    default_file = "grades.csv"
    lms = ""  # "canvas" or "moodle", for which the file is
    encoding = "utf-8"

    def rows(self, people: Sequence[Person], scores: Sequence[Scores]) -> Iterable[Sequence[str]]:
        """The table to be written, its heading first."""
        raise NotImplementedError

    def export(self, gradebook: Gradebook) -> None:
        try:
            require_usual(self.parent.coursedir)
        except UnusualCourse as error:
            raise SystemExit(str(error)) from None
        self.known = self._read_roster()
        self.refuse_roster()
        scores = [self._scores(gradebook, name) for name in self._assignments(gradebook)]
        everybody = [*self._people(gradebook)]
        if not self.known.people:
            everybody += self._unknown(scores, {person.student for person in everybody})
        people = [p for p in everybody if not self.student or p.student in self.student]
        written = self._without_empty(people, scores) if self.lms else people
        path = Path(self.to or self.default_file)
        write_table(path, self.rows(written, scores), self.encoding)
        for one in scores:
            self._say(one, {person.student for person in people})
            self._say_ungraded(one)
        self.log.info("Wrote %s", path)

    def _without_empty(self, people: list[Person], scores: Sequence[Scores]) -> list[Person]:
        """Say what an import would clear, or leave it out."""
        name = self.lms.title()
        if self.only_graded:
            people = [p for p in people if any(s.total(p.student) is not None for s in scores)]
        empty = [p for p in people if any(s.total(p.student) is None for s in scores)]
        if empty and self.only_graded:
            self.log.warning(
                "Without a grade in every assignment, which clears one that %s has: %s; export one "
                "assignment at a time, with --assignment",
                name, ", ".join(person.student for person in empty),
            )  # fmt: skip
        elif empty:
            self.log.warning(
                "%d of %d rows are empty: importing them clears a grade that %s has already. "
                "--TableExporter.only_graded=True leaves them out", len(empty), len(people), name,
            )  # fmt: skip
        return people

    def refuse_roster(self) -> None:
        """Raise SystemExit if the roster is of no use for this file."""

    @property
    def course_root(self) -> Path:
        return Path(self.parent.coursedir.root)

    def warn_of_formulas(self, person: Person, values: Iterable[str]) -> None:
        """Say which values a spreadsheet would compute, where the LMS needs them as they are."""
        for value in filter(looks_like_formula, values):
            self.log.warning(
                "%s: the file has %r, which the LMS needs as it is: open it in no spreadsheet",
                person.student, value,
            )  # fmt: skip

    def title(self, assignment: str) -> str:
        return self.titles.get(assignment, assignment)

    def _assignments(self, gradebook: Gradebook) -> list[str]:
        return list(self.assignment) or [assignment.name for assignment in gradebook.assignments]

    def _scores(self, gradebook: Gradebook, assignment: str) -> Scores:
        try:
            return read_scores(gradebook, assignment)
        except MissingEntry:
            known = ", ".join(a.name for a in gradebook.assignments) or "none"
            raise SystemExit(f"no assignment is called {assignment}; there is {known}") from None

    def _read_roster(self) -> Roster:
        path = self.course_root / self.roster
        if not path.exists():
            self.log.warning("There is no %s: names and numbers are those of the gradebook", path)
            return Roster()
        try:
            roster = read_roster(path)
        except ValueError as error:
            raise SystemExit(str(error)) from None
        for complaint in roster.complaints:
            self.log.warning(complaint)
        return roster

    def _people(self, gradebook: Gradebook) -> Iterable[Person]:
        """The roster's people; without a roster, whoever is in the gradebook."""
        if self.known.people:
            return self.known.people
        return [
            Person(
                student.id,
                student.id if student.id.isdecimal() else "",
                ", ".join(filter(None, (student.last_name, student.first_name))),
                None,
                {"Email address": student.email} if student.email else {},
            )
            for student in gradebook.students
        ]

    def _unknown(self, scores: Sequence[Scores], known: set[str]) -> list[Person]:
        """Whoever has a folder in submitted/ that nbgrader has never graded."""
        names = {name for one in scores for name in self._handed_in(one.assignment)}
        return [Person(name, "", "", None, {}) for name in sorted(names - known)]

    def _handed_in(self, assignment: str) -> list[str]:
        course = self.parent.coursedir
        submitted = Path(course.root) / course.submitted_directory
        if not (submitted.is_dir() and source_folder(course, assignment).is_dir()):
            return []
        return submitted_names(course, assignment)

    def _say_ungraded(self, scores: Scores) -> None:
        for student in self._handed_in(scores.assignment):
            if student not in scores.by_student and student in (self.student or [student]):
                why = reason(self.parent.coursedir, scores.assignment, student)
                self.log.warning(
                    "%s: no grade for %s: %s", scores.assignment, student, why or "not graded yet"
                )

    def _say(self, scores: Scores, exported: set[str]) -> None:
        strangers = sorted(scores.by_student.keys() - exported)
        if strangers and not self.student:
            self.log.warning(
                "%s: graded, but not in the roster, so not in the file: %s",
                scores.assignment, ", ".join(strangers),
            )  # fmt: skip
        for student in sorted(scores.by_student.keys() & exported):
            score = scores.by_student[student]
            if score.missing:
                where = " in " + ", ".join(score.missing) if score.is_graded else ""
                self.log.warning(
                    "%s: left %s for %s, no grade yet%s", scores.assignment,
                    "out" if self.lms and self.only_graded else "empty", student, where,
                )  # fmt: skip
