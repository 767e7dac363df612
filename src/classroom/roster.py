"""Who is who in a course: the LMS's own list, or one written by hand.

A roster is a CSV file with a heading. What a column means is known by its name, in small or large
letters. As it comes from the LMS, it may be

- Canvas: the exported gradebook (ID, SIS Login ID, Student, ...);
- Moodle: the grading worksheet of the assignment (Identifier, Full name, Email address, ...).

Written by hand, it has `student_id`, nbgrader's name for a student, and `lms_id`, the number in the
names of downloaded files; perhaps `name` and `timestamp`, the time of handing in.
"""

import csv
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

# A value is taken from the first of these columns that has one.
COLUMNS = {
    "lms": ("lms_id", "identifier", "id"),
    "student": (
        "student_id", "sis login id", "username", "id number", "email address", "email",
        "sis user id",
    ),
    "name": ("name", "full name", "student"),
    "timestamp": ("timestamp", "last modified (submission)"),
}  # fmt: skip
NOT_A_PERSON = "points possible"  # a row of Canvas's
UNUSABLE = re.compile(r'[\s/\\\[\]*?:<>|"\x00-\x1f\x7f]+')


@dataclass(frozen=True)
class Person:
    """A row of a roster.

    student: nbgrader's name for the person, fit for a folder. lms: the number in the names of
    downloaded files, or "". timestamp: when the work was handed in, as the roster writes it.
    row: all that the roster says, by the columns' own names.
    """

    student: str
    lms: str
    name: str
    timestamp: str
    row: Mapping[str, str]

    def value(self, column: str) -> str:
        """What the roster has in a column, in whatever letters the column is named; "" if none."""
        return self._by_column.get(column.lower(), "")

    @cached_property
    def _by_column(self) -> dict[str, str]:
        return {name.strip().lower(): value for name, value in self.row.items()}


@dataclass(frozen=True)
class Roster:
    """The people of a course, the roster's columns, and what was wrong with it, in words."""

    people: tuple[Person, ...] = ()
    columns: tuple[str, ...] = ()
    complaints: tuple[str, ...] = ()

    @cached_property
    def by_student(self) -> dict[str, Person]:
        return {person.student: person for person in self.people}

    def find(self, lms: str, name: str = "") -> Person | None:
        """The person with this number; else the only one without a number who has this name."""
        return self._by_number.get(lms) or self._by_name.get(_plain(name))

    @cached_property
    def _by_number(self) -> dict[str, Person]:
        return {person.lms: person for person in self.people if person.lms}

    @cached_property
    def _by_name(self) -> dict[str, Person]:
        people = [person for person in self.people if person.name and not person.lms]
        often = Counter(_plain(person.name) for person in people)
        return {_plain(p.name): p for p in people if often[_plain(p.name)] == 1}


def read_roster(path: Path) -> Roster:
    """Read a roster.

    Raises:
        ValueError: the file is no roster; the message says what to do.
    """
    rows = list(_rows(path))
    columns = tuple(rows[0]) if rows else ()
    people, complaints, seen = [], [], {}
    for number, row in enumerate(rows, start=2):
        person = _person(row)
        if person is None:
            continue
        if clash := next((key for key in _keys(person) if key in seen), None):
            complaints.append(
                f"{path.name}: rows {seen[clash]} and {number} are both {clash[1]}: "
                f"the first counts, correct the other"
            )
            continue
        seen.update(dict.fromkeys(_keys(person), number))
        people.append(person)
    return Roster(tuple(people), columns, tuple(complaints))


def folder_name(text: str) -> str:
    """A student's name in a form that can be a folder and that nbgrader finds again.

    >>> folder_name("../Ada Lovelace*"), folder_name("王小明")
    ('Ada-Lovelace', '王小明')
    """
    return UNUSABLE.sub("-", unicodedata.normalize("NFC", text)).strip("-. ")


def _rows(path: Path) -> Iterable[dict[str, str]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f'{path} is not UTF-8: save it as "CSV UTF-8"') from None
    heading = text.partition("\n")[0]
    separator = max(",;\t", key=heading.count)
    reader = csv.DictReader(text.splitlines(keepends=True), delimiter=separator, restval="")
    known = {name.strip().lower() for name in reader.fieldnames or ()}
    if known.isdisjoint(COLUMNS["student"] + COLUMNS["lms"]):
        raise ValueError(
            f"{path} has no column that says who is who: take the gradebook exported from Canvas "
            "or the grading worksheet from Moodle, or name columns student_id and lms_id"
        )
    for row in reader:
        yield {name: value.strip() for name, value in row.items() if isinstance(name, str)}


def _person(row: Mapping[str, str]) -> Person | None:
    """Whom a row is about, if anybody."""
    values = {name.strip().lower(): value for name, value in row.items()}
    lms, student, name, timestamp = (
        next((values[column] for column in columns if values.get(column)), "")
        for columns in COLUMNS.values()
    )
    student = folder_name(student or lms)
    if not student or name.lower() == NOT_A_PERSON:
        return None
    return Person(student, _number(lms), name, timestamp, row)


def _number(lms: str) -> str:
    """Moodle writes "Participant 4711", in the language of whoever downloads."""
    match = re.search(r"\d+$", lms)
    return match[0] if match else lms


def _keys(person: Person) -> list[tuple[str, str]]:
    return [("student", person.student)] + [("number", person.lms)] * bool(person.lms)


def _plain(name: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())
