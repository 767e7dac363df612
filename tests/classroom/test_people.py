import time
from datetime import datetime

import pytest
from nbgrader.api import Gradebook
from nbgrader.converters import GenerateFeedback

from classroom.people import (
    DueDates,
    TellDates,
    dates_in_words,
    due_in,
    enter_names,
    roster_of,
)
from classroom.register import register

pytestmark = pytest.mark.filterwarnings("ignore:Object of type <Submitted:sqlalchemy.exc.SAWarning")
DUE = datetime(2026, 11, 30, 23, 59)
LATER = datetime(2026, 12, 2, 10, 0)


@pytest.fixture
def roster(course):
    """Writes the course's roster and reads it."""

    def roster(text, name="roster.csv"):
        (course.root / name).write_text(text)
        return roster_of(course.directory, course.config)

    return roster


@pytest.fixture
def book(course):
    register(course.directory, "small", course.config)
    with Gradebook(course.directory.db_url) as book:
        book.update_or_create_assignment("small", duedate=f"{DUE} UTC")
        for student in ("ada", "bob"):
            book.add_student(student)
            book.add_submission("small", student)
        yield book


@pytest.fixture
def in_berlin(monkeypatch):
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def test_a_course_needs_no_roster(course):
    assert roster_of(course.directory, course.config).people == ()


def test_it_is_the_one_that_collects(course, roster):
    course.config.LmsCollector.roster = "people.csv"
    assert roster("student_id\nada\n", "people.csv").people[0].student == "ada"


def test_a_due_date_is_of_one_assignment(roster):
    with pytest.raises(ValueError, match="call it due other or due small"):
        roster("student_id,due\nada,2026-12-02T10:00Z\n")
    found = roster("student_id,due small\nada,2026-12-02T10:00Z\nbob,\n")
    assert due_in(found, "small") == {"ada": LATER}
    assert due_in(found, "other") is None


@pytest.mark.parametrize(
    ("name", "first", "last"),
    [("Lovelace, Ada", "Ada", "Lovelace"), ("Ada King Lovelace", "Ada King", "Lovelace"),
     ("王小明", "", "王小明")],
)  # fmt: skip
def test_names_go_into_the_gradebook(course, book, roster, name, first, last):
    enter_names(course.directory, roster(f'student_id,name\nada,"{name}"\n'))
    book.db.expire_all()
    ada, bob = book.find_student("ada"), book.find_student("bob")
    assert (ada.first_name, ada.last_name) == (first, last)
    assert (bob.first_name, bob.last_name) == (None, None)


def test_work_is_due_by_the_roster_and_then_by_the_gradebook(course, book, roster):
    book.grant_extension("small", "bob", days=1)
    without = DueDates(course.directory, roster("student_id\nada\n"))
    assert [without("small", student) for student in ("ada", "bob", "cyd")] == [
        DUE, DUE.replace(month=12, day=1), DUE
    ]  # fmt: skip
    by_roster = DueDates(course.directory, roster("student_id,due small\nada,2026-12-02T10:00Z\n"))
    assert [by_roster("small", student) for student in ("ada", "bob")] == [LATER, DUE]
    assert by_roster("other", "ada") is None


def test_dates_are_told_with_their_zone(in_berlin):
    assert dates_in_words(datetime(2026, 11, 29, 20, 50), LATER) == (
        "Handed in 2026-11-29 21:50 (UTC+01:00), due 2026-12-02 11:00 (UTC+01:00)."
    )
    assert dates_in_words(None, LATER) == "Due 2026-12-02 11:00 (UTC+01:00)."
    assert dates_in_words(None, None) == ""


def test_feedback_tells_when_work_was_handed_in_and_due(course, book):
    submission = book.find_submission("small", "ada")
    submission.timestamp, submission.extension = DUE, LATER - DUE
    book.db.commit()
    converter = GenerateFeedback(coursedir=course.directory, config=course.config)
    exporter = converter.exporter_class(parent=converter, config=converter.config)
    names = {"assignment": "small", "student": "ada", "db_url": course.directory.db_url}
    _, resources = TellDates(parent=exporter)(None, {"nbgrader": names})
    assert resources["nbgrader"]["dates"] == dates_in_words(DUE, LATER)
