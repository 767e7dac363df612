import functools

import pytest

pytestmark = pytest.mark.filterwarnings("ignore:Object of type <Submitted:sqlalchemy.exc.SAWarning")


@pytest.fixture
def export(export):
    return functools.partial(export, "MoodleExporter", file="moodle.csv")


def test_people_are_told_by_what_moodle_knows_of_them(export, grade, roster):
    roster(
        "Identifier,Full name,Email address,Grade\n"
        "Participant 71,Ada Lovelace,ada@example.org,\n"
        "Participant 72,王小明,wang@example.org,\n"
    )
    grade("ada@example.org", 1, 2)
    grade("wang@example.org", None, None)
    rows, _ = export("--MoodleExporter.titles=small=Heads, many")
    assert rows == [
        ["Full name", "Email address", "Heads, many"],
        ["Ada Lovelace", "ada@example.org", "3"],
        ["王小明", "wang@example.org", ""],
    ]


def test_headings_are_those_of_the_roster_in_whatever_language(export, grade, roster):
    roster(
        "ID,Vollständiger Name,E-Mail-Adresse,Zuletzt geändert (Abgabe)\n"
        "Teilnehmer/in71,Ada Lovelace,ada@example.org,-\n"
        "Teilnehmer/in72,王小明,wang@example.org,-\n"
    )
    grade("ada@example.org", 1, 2)
    rows, said = export()
    assert rows == [
        ["Vollständiger Name", "E-Mail-Adresse", "small"],
        ["Ada Lovelace", "ada@example.org", "3"],
        ["王小明", "wang@example.org", ""],
    ]
    assert "1 of 2 rows are empty: importing them clears a grade that Moodle has" in said
    assert export("--TableExporter.only_graded=True")[0] == rows[:2]


def test_a_worksheet_that_hides_the_names_is_refused(course, export, grade, roster):
    roster("Identifier,Status,Grade\nParticipant 71,-,\n")
    grade("Participant-71", 1, 2)
    with pytest.raises(SystemExit, match="no email address, ID number or user name"):
        export()
    assert not (course.root / "moodle.csv").exists()


def test_whom_moodle_would_not_know_is_left_out_and_said(export, grade, roster):
    roster(
        "Identifier,Full name,Email address\nParticipant 71,Ada,ada@example.org\n"
        "Participant 72,Bob,\n"
    )
    grade("ada@example.org", 1, 2)
    rows, said = export()
    assert [row[0] for row in rows] == ["Full name", "Ada"]
    assert "Participant-72: left out, without Email address. Moodle ends an import" in said


def test_without_a_roster_the_gradebook_tells(export, grade):
    grade("ada", 1, 2, email="ada@example.org")
    grade("bob", 0, 0, email="bob@example.org")
    assert export()[0] == [
        ["Email address", "small"], ["ada@example.org", "3"], ["bob@example.org", "0"]
    ]  # fmt: skip


def test_nothing_but_names(export, grade):
    grade("ada", 1, 2)
    assert export()[0] == [["Username", "small"], ["ada", "3"]]
