import os
import zipfile

import pytest

from classroom.give_back import main

CANVAS = "Student,ID,SIS Login ID\nDoe,11,jane\nRoe,12,john\nWang,13,xiaoming\n"
MOODLE = (
    "Identifier,Full name,Email address\nParticipant 71,Jane Doe,jane@example.org\n"
    "Participant 72,Åse Ødegård,ase@example.org\n"
)


@pytest.fixture
def handed_in(course):
    """Puts files where `nbgrader zip_collect` has unpacked a download."""

    def handed_in(roster, *names):
        (course.root / "roster.csv").write_text(roster)
        for name in names:
            path = course.root / "downloaded" / "small" / "extracted" / "submissions" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(name)

    return handed_in


@pytest.fixture
def page(course):
    """Writes a student's page, after the grade or before it."""

    def page(student, *, before_the_grade=False):
        for folder, name in (("autograded", "small.ipynb"), ("feedback", "small.html")):
            path = course.root / folder / student / "small" / name
            path.parent.mkdir(parents=True)
            path.write_text(student)
            when = 1e9 - (before_the_grade and folder == "feedback")
            os.utime(path, (when, when))

    return page


def packed(course):
    with zipfile.ZipFile(course.root / "feedback-small.zip") as written:
        return {name: written.read(name).decode() for name in written.namelist()}


def test_canvas_knows_the_page_by_the_numbers_of_the_upload(course, handed_in, page, capsys):
    handed_in(
        CANVAS, "doejane_11_901_small.ipynb", "doejane_11_907_small-1.ipynb",
        "王小明_LATE_13_902_hw/small.ipynb", "roejohn_12_905_my_2_try.ipynb",
    )  # fmt: skip
    for student in ("jane", "john", "xiaoming"):
        page(student)
    assert main(["small"]) == 0
    assert packed(course) == {
        "doejane_11_907_small.html": "jane", "roejohn_12_905_small.html": "john",
        "王小明_LATE_13_902_small.html": "xiaoming",
    }  # fmt: skip
    assert "3 pages: feedback-small.zip\nIn Canvas: " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("names", "folders"),
    [
        (("Jane Doe_71_assignsubmission_file_/small.ipynb",
          "Åse Ødegård_72_assignsubmission_file_/a/small.ipynb"),
         ("Jane Doe_71_assignsubmission_file_/", "Åse Ødegård_72_assignsubmission_file_/")),
        (("Jane_Doe_71_assignsubmission_file/small.ipynb",
          "Åse Ødegård_72_assignsubmission_file_small.ipynb"),
         ("Jane Doe_71_assignsubmission_file/", "Åse Ødegård_72_assignsubmission_file_")),
    ],
)  # fmt: skip
def test_moodle_knows_the_page_by_its_folder(course, handed_in, page, capsys, names, folders):
    handed_in(MOODLE, *names)
    page("jane@example.org")
    page("ase@example.org")
    assert main(["small"]) == 0
    assert packed(course) == {
        f"{folders[0]}small.html": "jane@example.org", f"{folders[1]}small.html": "ase@example.org"
    }  # fmt: skip
    assert "\nIn Moodle: " in capsys.readouterr().out


def test_who_gets_no_page_is_named_with_the_reason(course, handed_in, page, capsys):
    handed_in(
        CANVAS, "doejane_11_901_small.ipynb", "roejohn_12_905_small.ipynb", "eve_99_906_small.ipynb"
    )
    page("jane", before_the_grade=True)
    page("xiaoming")
    assert main(["small"]) == 1
    assert packed(course) == {}
    said = capsys.readouterr().out
    assert "  jane: the page is older than the grade: run nbgrader generate_feedback small" in said
    assert "  john: its folder is gone\n" in said
    assert "  99: " in said
    assert "  xiaoming: the download has nothing of this student" in said


def test_a_page_that_would_go_to_somebody_else_stops_everything(course, handed_in, page, capsys):
    handed_in("student_id,name\njane,Jane Doe\n", "Jane Doe_71_assignsubmission_file_/small.ipynb")
    page("jane")
    assert main(["small"]) == 0
    (course.root / "feedback-small.zip").unlink()
    handed_in(CANVAS.replace("13,xiaoming", "14,xiaoming"), "_14_doejane_11_901_small.ipynb")
    page("14")
    assert main(["small"]) == 2
    assert not (course.root / "feedback-small.zip").exists()


def test_without_a_download_nothing_is_written(course, capsys):
    assert main(["small"]) == 2
    assert "run nbgrader zip_collect small" in capsys.readouterr().err


def test_an_unusual_course_is_refused_in_one_sentence(course, capsys):
    structure = "--CourseDirectory.directory_structure={nbgrader_step}/{assignment_id}/{student_id}"
    assert main(["small", structure]) == 2
    assert "directory_structure is" in capsys.readouterr().err
    assert not (course.root / "feedback-small.zip").exists()
