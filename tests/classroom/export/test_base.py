import functools

import pytest

pytestmark = pytest.mark.filterwarnings("ignore:Object of type <Submitted:sqlalchemy.exc.SAWarning")


@pytest.fixture
def export(export):
    return functools.partial(export, "MoodleExporter")


def test_only_who_and_what_is_asked_for(export, grade):
    grade("ada", 1, 2)
    grade("bob", 1, 2)
    rows, said = export("--student=bob", "--assignment=small", "--to=x.csv", file="x.csv")
    assert rows == [["Username", "small"], ["bob", "3"]]
    assert "not in the roster" not in said


@pytest.mark.usefixtures("book")
def test_unknown_assignment_is_said_and_nothing_is_written(course, export):
    with pytest.raises(SystemExit, match="no assignment is called large; there is small"):
        export("--assignment=large", file="moodle.csv")
    assert not (course.root / "moodle.csv").exists()


@pytest.mark.usefixtures("book")
def test_an_unusual_course_is_said_and_nothing_is_written(course, export):
    structure = "--CourseDirectory.directory_structure={nbgrader_step}/{assignment_id}/{student_id}"
    with pytest.raises(SystemExit, match="directory_structure is"):
        export(structure, file="moodle.csv")
    assert not (course.root / "moodle.csv").exists()


def test_who_is_not_in_the_roster_is_said(export, grade, roster):
    roster("student_id,username\nada,ada\nbob,bob\n")
    grade("ada", 1, 2)
    grade("eve", 1, 2)
    rows, said = export(file="moodle.csv")
    assert rows[1:] == [["ada", "3"], ["bob", ""]]
    assert "small: graded, but not in the roster, so not in the file: eve" in said


def test_roster_with_duplicates_is_said(export, grade, roster):
    roster("student_id,username\nada,ada\nada,other\n")
    grade("ada", 1, 2)
    rows, said = export(file="moodle.csv")
    assert rows[1:] == [["ada", "3"]]
    assert "rows 2 and 3 are both ada" in said


@pytest.mark.usefixtures("book")
def test_what_is_no_roster_is_said(export, roster):
    roster("a,b\n")
    with pytest.raises(SystemExit, match="no column that says who is who"):
        export(file="moodle.csv")


def test_what_is_left_empty_is_said(export, grade):
    grade("ada", 1, None)
    grade("bob", None, None)
    rows, said = export(file="moodle.csv")
    assert rows[1:] == [["ada", ""], ["bob", ""]]
    assert "small: left empty for ada, no grade yet in test_double_value\n" in said
    assert "small: left empty for bob, no grade yet\n" in said


def test_what_a_spreadsheet_would_compute_is_harmless_or_said(export, grade, roster):
    roster("username,full name\n=1+1,=2+2\n")
    grade("=1+1", 1, 2)
    rows, said = export(file="moodle.csv")
    assert rows[1:] == [["'=2+2", "=1+1", "3"]]
    assert "the file has '=1+1', which the LMS needs as it is" in said


def test_a_folder_that_was_never_graded_is_in_the_file_and_said(course, export, grade):
    grade("ada", 1, 2)
    (course.root / "submitted/bob/small").mkdir(parents=True)
    rows, said = export(file="moodle.csv")
    assert rows[1:] == [["ada", "3"], ["bob", ""]]
    assert "small: no grade for bob: the folder is empty" in said


def test_with_a_roster_it_is_only_said(course, export, grade, roster):
    roster("student_id,username\nada,ada\n")
    grade("ada", 1, 2)
    (course.root / "submitted/bob/small").mkdir(parents=True)
    rows, said = export(file="moodle.csv")
    assert rows[1:] == [["ada", "3"]]
    assert "small: no grade for bob: the folder is empty" in said
