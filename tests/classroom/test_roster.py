from datetime import UTC, datetime

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


# Moodle's own headings and times, of its language packs; the people are made up.
WORKSHEETS = {
    "de": ("ID", "Vollständiger Name", "E-Mail-Adresse", "Zuletzt geändert (Abgabe)",
           "Teilnehmer/in", "Sonntag, 29. November 2026, 21:50"),
    "fr": ("Identifiant", "Nom complet", "Adresse de courriel",
           "Dernière modification (travail remis)", "Participant ",
           "dimanche 29 novembre 2026, 21:50"),
    "es": ("Identificador", "Nombre completo", "Dirección de correo",
           "Última modificación (entrega)", "Participante ",
           "domingo, 29 de noviembre de 2026, 21:50"),
    "it": ("Identificativo", "Nome completo", "Indirizzo email", "Ultima modifica (consegna)",
           "Partecipante", "domenica, 29 novembre 2026, 21:50"),
    "nl": ("Identificatie", "Volledige naam", "E-mailadres", "Laatst gewijzigd (inzending)",
           "Deelnemer", "zondag, 29 november 2026, 21:50"),
    "pt": ("Identificador", "Nome completo", "Endereço de e-mail",
           "Última atualização (submissão)", "Participante",
           "domingo, 29 de novembro de 2026, 21:50"),
    "sv": ("Identifierare", "Fullständigt namn", "E-postadress", "Senast modifierat (inlämning)",
           "Deltagare ", "2026-11-29 21:50"),
}  # fmt: skip


def local(*parts):
    return datetime(*parts).astimezone(UTC)


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
    roster = read(MOODLE)
    ada, grace = roster.people
    assert (ada.lms, ada.student) == ("4711", "ada@example.org")
    assert ada.timestamp == local(2026, 11, 29, 21, 50)
    assert (grace.lms, grace.timestamp) == ("4712", None)
    assert (roster.lms, roster.headings["email"]) == ("moodle", ["Email address"])


@pytest.mark.parametrize("language", WORKSHEETS)
def test_grading_worksheet_in_another_language(read, language):
    number, name, email, handed_in, participant, when = WORKSHEETS[language]
    roster = read(
        f"{number},{name},{email},Status,{handed_in},Grade\n"
        f'{participant}4711,Åse Ødegård,ase@example.org,-,"{when}",\n'
        f"{participant}4712,Max Muster,max@example.org,-,-,\n"
    )
    ase, muster = roster.people
    assert (ase.lms, ase.student, ase.name) == ("4711", "ase@example.org", "Åse Ødegård")
    assert (ase.timestamp, muster.timestamp) == (local(2026, 11, 29, 21, 50), None)
    assert (roster.lms, roster.headings["email"]) == ("moodle", [email])


def test_times_in_an_unknown_language_are_refused(read):
    with pytest.raises(ValueError, match="row 2, column Senast modifierat") as refused:
        read(
            "Identifierare,Fullständigt namn,E-postadress,Senast modifierat (inlämning)\n"
            'Deltagare 1,Ada,ada@example.org,"söndag, 29 xyz 2026, 21:50"\n'
        )
    assert "write 2026-11-29 20:15" in str(refused.value)


@pytest.mark.parametrize(
    "when", ["03.12.2026 10:00", "3/12/2026 10:00", "12/3/26 10:00 AM", "yesterday", "46355.41"]
)
def test_a_time_that_may_be_another_is_refused_with_its_row(read, when):
    with pytest.raises(ValueError, match=r"roster\.csv, row 3, column timestamp: "):
        read(f"student_id,timestamp\nada,2026-12-03 10:00\nbob,{when}\n")


@pytest.mark.parametrize(
    ("written", "number"),
    [("101", "101"), ("101.0", "101"), ("0101", "0101"), ("Participant 101", "101"),
     ("Teilnehmer/in101", "101"), ("101,0", "101")],
)  # fmt: skip
def test_numbers_as_they_are_written(read, written, number):
    roster = read(f'student_id,lms_id\nada,"{written}"\n')
    assert roster.find(number).student == "ada"


@pytest.mark.parametrize(
    "written",
    ["10,101", "10.101", "101.000", "1.01E+05", "1,01E+05", "10 101", "10'101", "１０", "-5"],
)
@pytest.mark.parametrize("column", ["lms_id", "ID"])
def test_numbers_that_a_spreadsheet_has_spoilt_are_refused_with_their_row(read, written, column):
    with pytest.raises(ValueError, match=f"row 3, column {column}: "):
        read(f'student_id,{column}\nbob,7\nada,"{written}"\n')


@pytest.mark.parametrize("spoilt", ["2,001,234", "1.23E+09"])
def test_so_are_names_that_are_numbers(read, spoilt):
    with pytest.raises(ValueError, match="row 2, column student_id: "):
        read(f'student_id,lms_id\n"{spoilt}",7\n')


@pytest.mark.parametrize(
    "encode",
    [lambda text: text.encode("utf-8-sig"), lambda text: text.encode("utf-16"),
     lambda text: b"\xfe\xff" + text.encode("utf-16-be"),
     lambda text: f"sep=;\r\n{text}".replace(",", ";").encode()],
)  # fmt: skip
def test_files_as_spreadsheets_write_them(read, encode):
    (wang,) = read(encode("student_id,lms_id,name\r\nwang,7,王小明\r\n")).people
    assert (wang.student, wang.lms, wang.name) == ("wang", "7", "王小明")


def test_a_title_with_separators_in_it_is_one_column(read):
    roster = read('Student;ID;SIS Login ID;"heads, many, of, them (7)"\n"Doe, Jane";11;jane;\n')
    assert [(p.student, p.name) for p in roster.people] == [("jane", "Doe, Jane")]
    assert roster.columns[-1] == "heads, many, of, them (7)"


def test_canvas_with_first_and_last_names(read):
    roster = read(
        "LastName,FirstName,ID,SIS User ID,SIS Login ID,Section,mha (7)\n"
        ",,,,,,Manual Posting\n    Points Possible,,,,,,24\n"
        "Lovelace,Ada,11,S1,ada,A,\nStudent,Test,99,,0f1e2d,A,\n"
    )
    ada, test = roster.people
    assert (ada.name, ada.first, ada.last) == ("Lovelace, Ada", "Ada", "Lovelace")
    assert (ada.is_test_student, test.is_test_student) == (False, True)
    assert (roster.lms, roster.possible["mha (7)"]) == ("canvas", "24")


def test_when_work_is_due(read):
    (ada,) = read("student_id,due,due mha\nada,2026-12-05T10:00+01:00,-\n").people
    assert ada.due == {"": datetime(2026, 12, 5, 9, tzinfo=UTC)}
    (ada,) = read("student_id,Due mha,Due diligence (7)\nada,2026-12-05T10:00Z,24\n").people
    assert ada.due == {"mha": datetime(2026, 12, 5, 10, tzinfo=UTC)}


def test_a_quotation_that_does_not_end_loses_no_rows(read):
    with pytest.raises(ValueError, match="line 3"):
        read('student_id,name\nada,"Ada\nbob,Bob\n')


def test_a_row_without_a_number_is_said(read):
    roster = read("student_id,lms_id,name\nada,1,Ada\n,,Bob\n")
    assert roster.complaints == (
        "roster.csv, row 3: Bob has no student_id and no number: left out",
    )


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
    roster = read("student_id,lms_id\nada,1\nbob,2\nada,3\nbob,2\ndan,4\n")
    assert [person.student for person in roster.people] == ["ada", "bob", "dan"]
    assert roster.complaints == (
        "roster.csv: rows 2 and 4 are both ada: the first counts, correct the other",
        "roster.csv: rows 3 and 5 are both bob: the first counts, correct the other",
    )


def test_two_people_with_one_number_are_refused(read):
    with pytest.raises(ValueError, match="rows 2 and 4 are both 1: correct one of them"):
        read("student_id,lms_id\nada,1\nbob,2\ncyd,1\n")


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
