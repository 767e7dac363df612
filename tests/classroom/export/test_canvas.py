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


@pytest.mark.parametrize(
    ("title", "heading"), [("Other", "Other (1)"), ("New (7)", "New (7)"), ("New", "New")]
)
def test_title_in_canvas(course, export, grade, roster, title, heading):
    roster(GRADEBOOK)
    grade("ada", 1, 2)
    rows, said = export(f"--CanvasExporter.titles=small={title}")
    assert rows[0][-1] == heading
    assert ("offer to make one" in said) is (heading == "New")
