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


def test_without_a_roster_the_gradebook_tells(export, grade):
    grade("ada", 1, 2, email="ada@example.org")
    grade("bob", 0, 0, email="bob@example.org")
    assert export()[0] == [
        ["Email address", "small"], ["ada@example.org", "3"], ["bob@example.org", "0"]
    ]  # fmt: skip


def test_nothing_but_names(export, grade):
    grade("ada", 1, 2)
    assert export()[0] == [["Username", "small"], ["ada", "3"]]
