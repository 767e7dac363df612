"""Grades for Moodle: Grades, Import, CSV file."""

from collections.abc import Iterable, Sequence

from classroom.export.base import TableExporter
from classroom.export.table import harmless, number
from classroom.points import Scores
from classroom.roster import Person

NAMES = ("Full name", "First name", "Last name", "Surname")
KEYS = ("Email address", "ID number", "Username")


class MoodleExporter(TableExporter):
    """Writes moodle.csv: whom Moodle knows by what the roster has of KEYS, and a grade item each.

    Without a roster from Moodle, nbgrader's names are taken for Moodle's user names.
    """

    default_file = "moodle.csv"

    def rows(self, people: Sequence[Person], scores: Sequence[Scores]) -> Iterable[Sequence[str]]:
        keys = [key for key in KEYS if any(person.value(key) for person in people)]
        names = [name for name in NAMES if any(person.value(name) for person in people)]
        titles = [self.title(one.assignment) for one in scores]
        yield [*names, *(keys or ["Username"]), *titles]
        for person in people:
            shown = [harmless(person.value(name)) for name in names]
            known_by = [person.value(key) for key in keys] or [person.student]
            self.warn_of_formulas(person, known_by)
            totals = [number(one.total(person.student)) for one in scores]
            yield [*shown, *known_by, *totals]
