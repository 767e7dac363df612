"""Grades for Moodle: Grades, Import, CSV file."""

from collections.abc import Iterable, Sequence

from classroom.export.base import TableExporter
from classroom.export.table import harmless, number
from classroom.points import Scores
from classroom.roster import Person

NAMES = ("name", "first", "last")
KEYS = ("email", "number", "username")
ENDS = "Moodle ends an import at the first row it does not know"


class MoodleExporter(TableExporter):
    """Writes moodle.csv: whom Moodle knows by what the roster has of KEYS, and a grade item each.

    Columns are called as in the roster. Without a roster from Moodle, nbgrader's names are taken
    for Moodle's user names.
    """

    default_file = "moodle.csv"
    lms = "moodle"

    def refuse_roster(self) -> None:
        if self.known.lms == "moodle" and not any(map(self.known.headings.get, KEYS)):
            raise SystemExit(
                f"{self.roster} has no email address, ID number or user name, and {ENDS}: "
                "take a grading worksheet that shows them"
            )
        if self.known.lms == "canvas":
            self.log.warning("%s comes from Canvas. %s", self.roster, ENDS)

    def rows(self, people: Sequence[Person], scores: Sequence[Scores]) -> Iterable[Sequence[str]]:
        headings = self.known.headings or {"email": ["Email address"]}
        names, keys = (
            [
                column
                for meaning in meanings
                for column in headings.get(meaning, ())
                if any(person.value(column) for person in people)
            ]
            for meanings in (NAMES, KEYS)
        )
        titles = [self.title(one.assignment) for one in scores]
        yield [*names, *(keys or ["Username"]), *titles]
        for person in people:
            shown = [harmless(person.value(name)) for name in names]
            known_by = [person.value(key) for key in keys] or [person.student]
            if not any(known_by):
                self.log.warning(
                    "%s: left out, without %s. %s", person.student, " or ".join(keys), ENDS
                )
                continue
            self.warn_of_formulas(person, known_by)
            totals = [number(one.total(person.student)) for one in scores]
            yield [*shown, *known_by, *totals]
