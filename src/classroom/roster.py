"""Who is who in a course: the LMS's own list, or one written by hand.

A roster is a CSV file with a heading. What a column holds is known by its heading, in small or
large letters. As it comes from the LMS, it may be

- Canvas: the exported gradebook (ID, SIS Login ID, Student, ...);
- Moodle: the grading worksheet of the assignment (Identifier, Full name, Email address, ...), in
  seven languages by its headings, in others by what its columns hold.

Written by hand, it has `student_id`, nbgrader's name for a student, and `lms_id`, the number in the
names of downloaded files; perhaps `name`, `timestamp`, the time of handing in, and `due` or, where
there are several assignments, `due mha`: when this student's work is due.

A value that may mean two things is refused, with its row.
"""

import csv
import io
import re
import unicodedata
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from pathlib import Path

from classroom.times import HOW_TO_WRITE, read_time

# A value is taken from the first of these columns that has one. Moodle's headings are English,
# German, French, Spanish, Italian, Dutch and Portuguese.
HEADINGS = {
    "lms": (
        "lms_id", "identifier", "id", "identifiant", "identificador", "identificativo",
        "identificatie",
    ),
    "student": ("student_id",),
    "login": ("sis login id",),
    "username": (
        "username", "anmeldename", "benutzername", "nom d'utilisateur", "nombre de usuario",
        "nome utente", "gebruikersnaam", "nome de utilizador", "nome de usuário",
        "identificação de usuário",
    ),
    "number": (
        "id number", "id-nummer", "numéro d'identification", "número de id", "número id",
        "codice identificativo", "número de identificação",
    ),
    "email": (
        "email address", "email", "e-mail-adresse", "e-mail", "adresse de courriel",
        "dirección de correo", "dirección de correo electrónico", "correo electrónico",
        "indirizzo email", "e-mailadres", "endereço de email", "endereço de e-mail",
    ),
    "sis": ("sis user id",),
    "name": (
        "name", "full name", "student", "vollständiger name", "nom complet", "nombre completo",
        "nome completo", "nome e cognome", "cognome e nome", "volledige naam",
    ),
    "first": ("firstname", "first name", "vorname", "prénom", "nombre", "voornaam"),
    "last": (
        "lastname", "last name", "surname", "nachname", "nom de famille", "apellido(s)",
        "apellidos", "cognome", "achternaam", "apelido", "sobrenome",
    ),
    "timestamp": (
        "timestamp", "last modified (submission)", "zuletzt geändert (abgabe)",
        "dernière modification (travail remis)", "última modificación (entrega)",
        "ultima modifica (consegna)", "laatst gewijzigd (inzending)",
        "última atualização (submissão)", "última modificação (envio)",
        "última modificação (submissão)",
    ),
}  # fmt: skip
STUDENT = ("student", "login", "username", "number", "email", "sis", "lms")
IDENTITY = frozenset(STUDENT) - {"email"}
CANVAS = ("login", "sis")
NOT_A_PERSON = "points possible"  # a row of Canvas's
TEST_STUDENTS = {"student, test", "test student"}  # Canvas's, for teachers to try things
UNUSABLE = re.compile(r'[\s/\\\[\]*?:<>|"\x00-\x1f\x7f]+')
NUMBER = re.compile(r"(\D*[^\W\d_]\D*)?([0-9]+)")  # Moodle writes "Participant 4711"
WHOLE = re.compile(r"([0-9]+)[.,]0{1,2}")  # as pandas and spreadsheets write whole numbers
SPREADSHEETS = re.compile(
    r"[0-9]{1,3}([,'’\u00a0\u202f][0-9]{3})+|[0-9]+\.0{3,}|[0-9]([.,][0-9]+)?E\+[0-9]+", re.I
)
CLOCK = re.compile(r"\d[:h.]\d\d")
DUE = re.compile(r"due(?:\s+(\S+))?", re.I)
NOTHING = ("", "-")


@dataclass(frozen=True)
class Person:
    """A row of a roster.

    student: nbgrader's name for the person, fit for a folder. lms: the number in the names of
    downloaded files, or "". timestamp: when the work was handed in, in UTC. first, last: the parts
    of the name, as far as they can be told. due: in UTC, by assignment, "" for the only one. row:
    all that the roster says, by the columns' own names.
    """

    student: str
    lms: str
    name: str
    timestamp: datetime | None
    row: Mapping[str, str]
    first: str = ""
    last: str = ""
    due: Mapping[str, datetime] = field(default_factory=dict)

    def value(self, column: str) -> str:
        """What the roster has in a column, in whatever letters the column is named; "" if none."""
        return self._by_column.get(_heading(column), "")

    @property
    def is_test_student(self) -> bool:
        return self.name.lower() in TEST_STUDENTS

    @cached_property
    def _by_column(self) -> dict[str, str]:
        return {_heading(name): value for name, value in self.row.items()}


@dataclass(frozen=True)
class Roster:
    """The people of a course, the roster's columns, and what was wrong with it, in words.

    headings: the columns' own names, by what they hold (the keys of HEADINGS). lms: "canvas" or
    "moodle" if the list is theirs. possible: the points that Canvas says can be had, by column.
    """

    people: tuple[Person, ...] = ()
    columns: tuple[str, ...] = ()
    complaints: tuple[str, ...] = ()
    headings: Mapping[str, Sequence[str]] = field(default_factory=dict)
    lms: str = ""
    possible: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def by_student(self) -> dict[str, Person]:
        return {person.student: person for person in self.people}

    def find(self, lms: str, name: str = "") -> Person | None:
        """The person with this number; else the only one without a number who has this name."""
        return self._by_number.get(lms) or self._by_name.get(letters(name))

    @cached_property
    def _by_number(self) -> dict[str, Person]:
        return {person.lms: person for person in self.people if person.lms}

    @cached_property
    def _by_name(self) -> dict[str, Person]:
        people = [person for person in self.people if letters(person.name) and not person.lms]
        often = Counter(letters(person.name) for person in people)
        return {letters(p.name): p for p in people if often[letters(p.name)] == 1}


def read_roster(path: Path) -> Roster:
    """Read a roster.

    Raises:
        ValueError: the file is no roster, or may be read in two ways; the message says where, and
            what to do.
    """
    columns, rows = _table(path)
    values = {column: [row[column] for _, row in rows if row[column]] for column in columns}
    headings = _headings(path, values)
    from_moodle = any(_are_moodles(values[column]) for column in headings["lms"])
    people, complaints, seen, possible = [], [], {}, {}
    for number, row in rows:
        name = _name(row, headings)
        if name.lower() == NOT_A_PERSON:
            possible = row
            continue
        where = f"{path.name}, row {number}"
        if not any(_value(row, headings[meaning])[1] for meaning in STUDENT):
            if name:
                complaints.append(f"{where}: {name} has no student_id and no number: left out")
            continue
        person = _person(where, row, headings, name)
        clash = next((key for key in _keys(person) if key in seen), None)
        if clash is None:
            seen.update(dict.fromkeys(_keys(person), (number, person)))
            people.append(person)
            continue
        before, other = seen[clash]
        both = f"{path.name}: rows {before} and {number} are both {clash[1]}"
        if person.lms and person.lms == other.lms and person.student != other.student:
            raise ValueError(f"{both}: correct one of them")
        complaints.append(f"{both}: the first counts, correct the other")
    lms = "canvas" if any(map(headings.get, CANVAS)) else "moodle" if from_moodle else ""
    return Roster(tuple(people), columns, tuple(complaints), headings, lms, possible)


def folder_name(text: str) -> str:
    """A student's name in a form that can be a folder and that nbgrader finds again.

    >>> folder_name("../Ada Lovelace*"), folder_name("王小明")
    ('Ada-Lovelace', '王小明')
    """
    return UNUSABLE.sub("-", unicodedata.normalize("NFC", text)).strip("-. ")


def letters(name: str) -> str:
    """What two ways to write a name have in common.

    >>> letters("Lovelace, Ada"), letters("lovelaceada")
    ('lovelaceada', 'lovelaceada')
    """
    return "".join(c for c in unicodedata.normalize("NFKC", name).casefold() if c.isalnum())


# --- the table ---


def _table(path: Path) -> tuple[tuple[str, ...], list[tuple[int, dict[str, str]]]]:
    """The columns, and the rows with their numbers as a spreadsheet shows them."""
    text = _text(path)
    marked = re.match(r"sep=(.)\r?\n", text)  # Excel's own way to say it
    text = text[marked.end() :] if marked else text
    separator = marked[1] if marked else max(",;\t", key=lambda by: _fitness(text, by))
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        columns, *records = list(reader) or [[]]
    except csv.Error as error:
        raise ValueError(f"{path}, line {reader.line_num}: {error}") from None
    columns = tuple(name.strip() for name in columns)
    rows = []
    for number, record in enumerate(records, start=2):
        values = [value.strip() for value in record[: len(columns)]]
        if any(values):
            values += [""] * (len(columns) - len(values))
            rows.append((number, dict(zip(columns, values, strict=True))))
    return columns, rows


def _text(path: Path) -> str:
    data = path.read_bytes()
    encoding = "utf-16" if data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise ValueError(f'{path} is not UTF-8: save it as "CSV UTF-8"')
    return text


def _fitness(text: str, separator: str) -> tuple[int, int]:
    """How well the first line reads with a separator: headings that are known, and all."""
    first = next(csv.reader(io.StringIO(text, newline=""), delimiter=separator), [])
    known = {_heading(name) for names in HEADINGS.values() for name in names}
    return sum(_heading(name) in known for name in first), len(first)


def _heading(name: str) -> str:
    plain = unicodedata.normalize("NFC", name).replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    return " ".join(plain.casefold().split())


# --- what its columns hold ---


def _headings(path: Path, values: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """The columns by what they hold; `values` are those that each column has."""
    by_heading = {_heading(name): name for name in reversed(values)}
    found = {
        meaning: [by_heading[_heading(name)] for name in names if _heading(name) in by_heading]
        for meaning, names in HEADINGS.items()
    }
    known = {name for names in found.values() for name in names}
    others = [column for column in values if column not in known]
    if not found["lms"]:
        found["lms"] = [c for c in others if _are_moodles(values[c], words=1)][:1]
    if not found["email"]:
        found["email"] = [c for c in others if _are_addresses(values[c])][:1]
    if any(_are_moodles(values[column]) for column in found["lms"]):
        if not found["timestamp"]:
            found["timestamp"] = [c for c in others if _are_times(values[c])][:1]
        if found["email"] and not (found["name"] or found["last"]):
            found["name"] = [c for c in others if c not in found["lms"]][:1]
    if not any(map(found.get, STUDENT)):
        raise ValueError(
            f"{path} has no column that says who is who; it has {', '.join(values) or 'none'}. "
            "Call the columns student_id and lms_id, or take the gradebook exported from Canvas "
            "or the grading worksheet from Moodle"
        )
    return found


def _are_moodles(values: Sequence[str], words: int = 9) -> bool:
    """Whether all are a word and a number, as Moodle writes participants in any language.

    words: how many words there may be; one in a worksheet, more where several were put together.
    """
    found = {match[1] if (match := NUMBER.fullmatch(value)) else None for value in values}
    return 0 < len(found) <= words and all(sum(map(str.isalpha, w or "")) > 2 for w in found)


def _are_addresses(values: Sequence[str]) -> bool:
    return bool(values) and all(re.fullmatch(r"[^@\s]+@[^@\s]+", value) for value in values)


def _are_times(values: Sequence[str]) -> bool:
    times = [value for value in values if value not in NOTHING]
    return bool(times) and all(map(CLOCK.search, times))


# --- a row ---


def _person(
    where: str, row: Mapping[str, str], headings: Mapping[str, Sequence[str]], name: str
) -> Person:
    row = dict(row)
    for meaning in IDENTITY:
        for column in headings[meaning]:
            row[column] = _exact(f"{where}, column {column}", row[column])
    student = next(v for meaning in STUDENT if (v := _value(row, headings[meaning])[1]))
    column, lms = _value(row, headings["lms"])
    number = NUMBER.fullmatch(lms)
    if lms and not number:
        raise ValueError(
            f"{where}, column {column}: {lms!r} is not the number of a student: write its digits"
        )
    column, when = _value(row, headings["timestamp"])
    due = {
        match[1] or "": read
        for column, value in row.items()
        if (match := DUE.fullmatch(column)) and (read := _time(where, column, value))
    }
    first, last = (_value(row, headings[part])[1] for part in ("first", "last"))
    if not (first or last):
        first, last = _parts(name)
    return Person(
        folder_name(student), number[2] if number else "", name, _time(where, column, when), row,
        first, last, due,
    )  # fmt: skip


def _parts(name: str) -> tuple[str, str]:
    """The first name and the last: "Lovelace, Ada", "Ada Lovelace"; one word is a last name."""
    last, comma, first = name.partition(",")
    if not comma:
        first, _, last = name.rpartition(" ")
    return first.strip(), last.strip()


def _value(row: Mapping[str, str], columns: Sequence[str]) -> tuple[str, str]:
    """The first of these columns that has a value, and the value."""
    return next(((column, row[column]) for column in columns if row[column]), ("", ""))


def _name(row: Mapping[str, str], headings: Mapping[str, Sequence[str]]) -> str:
    whole, first, last = (_value(row, headings[part])[1] for part in ("name", "first", "last"))
    return whole or ", ".join(filter(None, (last, first)))


def _exact(where: str, value: str) -> str:
    """A number in the form that the LMS gave it; refused where a spreadsheet has spoilt it."""
    if SPREADSHEETS.fullmatch(value):
        raise ValueError(
            f"{where}: {value!r} is a number as a spreadsheet shows it, with digits lost or added: "
            "write all of its digits, or take the file as the LMS gave it"
        )
    whole = WHOLE.fullmatch(value)
    return whole[1] if whole else value


def _time(where: str, column: str, value: str) -> datetime | None:
    if value in NOTHING:
        return None
    try:
        return read_time(value)
    except ValueError as error:
        raise ValueError(f"{where}, column {column}: {value!r}: {error}; {HOW_TO_WRITE}") from None


def _keys(person: Person) -> list[tuple[str, str]]:
    return [("student", person.student)] + [("number", person.lms)] * bool(person.lms)
