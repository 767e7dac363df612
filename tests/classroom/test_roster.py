import pytest

from classroom.roster import Roster, folder_name, read_roster

CANVAS = (
    "Student,ID,SIS User ID,SIS Login ID,Section,mha (48213)\n"
    "    Points Possible,,,,,24\n"
    '"Lovelace, Ada",11,S1,ada,A,\n'
    '"Hopper, Grace",12,S2,,A,\n'
    '"王, 小明",13,,,A,\n'
)
MOODLE = (
    "\ufeffIdentifier,Full name,Email address,Status,Last modified (submission),Grade\n"
    'Participant 4711,Ada Lovelace,ada@example.org,Submitted,"Sunday, 29 November 2026, 9:50 PM",\n'
    "Teilnehmer/in4712,Grace Hopper,grace@example.org,,-,\n"
)


@pytest.fixture
def read(tmp_path):
    def read(text: str | bytes) -> Roster:
        path = tmp_path / "roster.csv"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_roster(path)

    return read


def test_gradebook_of_canvas(read):
    roster = read(CANVAS)
    assert [(p.lms, p.student) for p in roster.people] == [
        ("11", "ada"),
        ("12", "S2"),
        ("13", "13"),
    ]
    assert roster.find("12").name == "Hopper, Grace"
    assert roster.columns[-1] == "mha (48213)"
    assert roster.complaints == ()


def test_grading_worksheet_of_moodle(read):
    ada, grace = read(MOODLE).people
    assert (ada.lms, ada.student) == ("4711", "ada@example.org")
    assert ada.timestamp == "Sunday, 29 November 2026, 9:50 PM"
    assert (grace.lms, grace.timestamp) == ("4712", "-")


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_list_written_by_hand(read, separator):
    roster = read(separator.join(["lms_id", "student_id"]) + "\n" + separator.join(["7", "ada"]))
    assert roster.find("7").student == "ada"
    assert roster.find("8") is None


def test_without_numbers_people_are_found_by_name_if_only_one_has_it(read):
    roster = read("student_id,name\nada,Ada  Lovelace\nx,Jo Doe\ny,Jo Doe\nz,\n")
    assert roster.find("1", "ada lovelace").student == "ada"
    assert roster.find("1", "Jo Doe") is None
    assert roster.find("1", "") is None


def test_somebody_with_a_number_is_not_found_by_name_alone(read):
    roster = read("student_id,lms_id,name\nada,1,Ada\n")
    assert roster.find("2", "Ada") is None


def test_first_of_two_rows_for_one_person_counts_and_the_other_is_said(read):
    roster = read("student_id,lms_id\nada,1\nbob,2\nada,3\ncyd,2\ndan,4\n")
    assert [person.student for person in roster.people] == ["ada", "bob", "dan"]
    assert roster.complaints == (
        "roster.csv: rows 2 and 4 are both ada: the first counts, correct the other",
        "roster.csv: rows 3 and 5 are both 2: the first counts, correct the other",
    )


def test_rows_of_another_length_and_empty_rows_do_no_harm(read):
    roster = read("student_id,lms_id\nada\n\n,,,\nbob,2,more,and,more\n")
    assert [(p.student, p.lms) for p in roster.people] == [("ada", ""), ("bob", "2")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no column that says who is who"),
        ("first,last\nAda,Lovelace\n", "no column that says who is who"),
        ("student_id,name\nada,J\xfcrgen\n".encode("latin-1"), "save it as"),
    ],
)
def test_what_is_no_roster_is_refused(read, text, message):
    with pytest.raises(ValueError, match=message):
        read(text)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("../../etc", "etc"), ("a/b\\c", "a-b-c"), ("ada@example.org", "ada@example.org"),
        ("Ада Лавлейс", "Ада-Лавлейс"), ("a[1]*?", "a-1"), ("..", ""), ("e\u0301", "\xe9"),
    ],
)  # fmt: skip
def test_names_are_fit_for_folders(text, name):
    assert folder_name(text) == name
