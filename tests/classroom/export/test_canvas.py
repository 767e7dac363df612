import functools

import pytest

pytestmark = pytest.mark.filterwarnings("ignore:Object of type <Submitted:sqlalchemy.exc.SAWarning")

GRADEBOOK = (
    "Student,ID,SIS User ID,SIS Login ID,Section,small (48213),Other (1)\n"
    "    Points Possible,,,,,3,5\n"
    '"Lovelace, Ada",11,S1,ada,"A, B",,\n'
    '"Hopper, Grace",12,S2,grace,A,1,\n'
    '"Doe, ""Jane""",13,S3,jane,A,,\n'
)


@pytest.fixture
def export(export):
    return functools.partial(export, "CanvasExporter", file="canvas.csv")


def test_gradebook_of_canvas_is_filled_in(export, grade, roster):
    roster(GRADEBOOK)
    grade("ada", 1, 2, penalty=0.5)
    grade("grace", 1, None)
    rows, _ = export()
    assert rows == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "small (48213)"],
        ["    Points Possible", "", "", "", "", "3"],
        ["Lovelace, Ada", "11", "S1", "ada", "A, B", "2.5"],
        ["Hopper, Grace", "12", "S2", "grace", "A", ""],
        ['Doe, "Jane"', "13", "S3", "jane", "A", ""],
    ]


def test_without_a_roster_numbers_are_canvass(export, grade):
    grade("11", 1, 2, first_name="Ada", last_name="Lovelace")
    grade("grace", 0, 0)
    rows, said = export()
    assert rows[2:] == [["", "", "", "grace", "", "0"], ["Lovelace, Ada", "11", "", "", "", "3"]]
    assert "There is no" in said
    assert "Canvas will offer to make one" in said


def test_what_an_import_would_clear_or_set_is_said(export, grade, roster):
    roster(GRADEBOOK.replace(",3,5", ',"2,50",5'))
    grade("ada", 1, 2)
    grade("grace", 1, None)
    rows, said = export()
    assert len(rows) == 5
    assert "2 of 3 rows are empty: importing them clears a grade that Canvas has" in said
    assert "small (48213): Canvas has 2.50 points possible, and importing makes that 3" in said


def test_rows_that_would_clear_or_set_something_are_left_out(export, grade, roster):
    roster(GRADEBOOK)
    grade("ada", 1, 2)
    grade("grace", 1, None)
    rows, said = export("--TableExporter.only_graded=True")
    assert rows == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "small (48213)"],
        ["Lovelace, Ada", "11", "S1", "ada", "A, B", "3"],
    ]
    assert "rows are empty" not in said
    assert "left out for grace" in said


def test_who_is_excused_in_canvas_stays_so(export, grade, roster):
    roster(GRADEBOOK.replace('A, B",,', 'A, B",EX,'))
    grade("ada", 1, 2)
    rows, said = export()
    assert rows[2][-1] == "EX"
    assert "ada is excused from small (48213) in Canvas, and stays so" in said


def test_a_new_assignment_of_canvas_gets_its_points(export, grade, roster):
    roster(GRADEBOOK)
    grade("ada", 1, 2)
    rows, _ = export("--TableExporter.only_graded=True", "--CanvasExporter.titles=small=New")
    assert rows[1] == ["    Points Possible", "", "", "", "", "3"]


def test_a_roster_of_moodles_is_refused(course, export, grade, roster):
    roster("ID,Vollständiger Name,E-Mail-Adresse\nTeilnehmer/in71,Ada Lovelace,ada@example.org\n")
    grade("ada@example.org", 1, 2)
    with pytest.raises(SystemExit, match="comes from Moodle"):
        export()
    assert not (course.root / "canvas.csv").exists()


@pytest.mark.usefixtures("two_parts")
def test_notebooks_that_share_names_are_all_counted(book, export, roster):
    roster(GRADEBOOK)
    book.add_student("ada")
    for notebook in book.add_submission("small", "ada").notebooks:
        for cell in notebook.grades:
            cell.auto_score, cell.needs_manual_grade = cell.max_score, False
            cell.auto_score *= notebook.name == "small"
    book.db.commit()
    rows, _ = export()
    assert [row[-1] for row in rows] == ["small (48213)", "8", "3", "", ""]


@pytest.mark.parametrize(
    ("title", "heading"), [("Other", "Other (1)"), ("New (7)", "New (7)"), ("New", "New")]
)
def test_title_in_canvas(course, export, grade, roster, title, heading):
    roster(GRADEBOOK)
    grade("ada", 1, 2)
    rows, said = export(f"--CanvasExporter.titles=small={title}")
    assert rows[0][-1] == heading
    assert ("offer to make one" in said) is (heading == "New")
