"""Grades for Canvas: Gradebook, Import."""

import re
from collections.abc import Iterable, Sequence

from classroom.export.base import TableExporter
from classroom.export.table import harmless, number
from classroom.points import Scores
from classroom.roster import Person

NUMBER = re.compile(r" \(\d+\)$")
EXCUSED = "EX"
NUMERAL = re.compile(r"\d+(\.\d+)?")
IDENTITY = ("ID", "SIS User ID", "SIS Login ID", "Section")


class CanvasExporter(TableExporter):
    """Writes canvas.csv, in the form in which Canvas exports its gradebook.

    Canvas knows an assignment by the number behind its title, "mha (48213)", and takes a title
    without one for a new assignment. The roster, if it comes from Canvas, has these titles.
    """

    default_file = "canvas.csv"
    lms = "canvas"

    def refuse_roster(self) -> None:
        if self.known.lms == "moodle":
            raise SystemExit(
                f"{self.roster} comes from Moodle, and Canvas knows nobody by it: take the "
                "gradebook exported from Canvas, or classroom.export.MoodleExporter"
            )

    def rows(self, people: Sequence[Person], scores: Sequence[Scores]) -> Iterable[Sequence[str]]:
        headings = [self._heading(one.assignment) for one in scores]
        yield ["Student", *IDENTITY, *headings]
        possible = [self._possible(*pair) for pair in zip(headings, scores, strict=True)]
        if any(possible):
            yield ["    Points Possible", *([""] * len(IDENTITY)), *possible]
        for person in people:
            pairs = zip(headings, scores, strict=True)
            totals = [self._grade(person, heading, one) for heading, one in pairs]
            yield [harmless(person.name), *self._identity(person), *totals]

    def _possible(self, heading: str, scores: Scores) -> str:
        """The points that can be had; Canvas takes them over from the file, if it has them."""
        there = self.known.possible.get(heading, "").replace(",", ".")
        if there and self.only_graded:
            return ""
        if NUMERAL.fullmatch(there) and float(there) != scores.full:
            self.log.warning(
                "%s: Canvas has %s points possible, and importing makes that %s; "
                "--TableExporter.only_graded=True leaves it", heading, there, number(scores.full),
            )  # fmt: skip
        return number(scores.full)

    def _grade(self, person: Person, heading: str, scores: Scores) -> str:
        if person.row.get(heading, "").upper() != EXCUSED:
            return number(scores.total(person.student))
        self.log.warning("%s is excused from %s in Canvas, and stays so", person.student, heading)
        return EXCUSED

    def _heading(self, assignment: str) -> str:
        title = self.title(assignment)
        if NUMBER.search(title):
            return title
        for column in self.known.columns:
            if NUMBER.search(column) and NUMBER.sub("", column) == title:
                return column
        self.log.warning(
            "%s: the roster has no assignment of that title, so Canvas will offer to make one; "
            "CanvasExporter.titles can name another", title,
        )  # fmt: skip
        return title

    def _identity(self, person: Person) -> list[str]:
        """What Canvas finds a person by: exactly as it is, or nobody is found."""
        values = {name: person.value(name) for name in IDENTITY}
        values["ID"] = values["ID"] or person.lms
        if not any(values.values()):
            values["SIS Login ID"] = person.student
        self.warn_of_formulas(person, values.values())
        return list(values.values())
