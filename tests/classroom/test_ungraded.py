import os

import pytest
from nbgrader.api import Gradebook

from classroom.ungraded import reason, submitted_names, without_grade


@pytest.fixture
def submitted(course):
    folder = course.root / "submitted"
    folder.mkdir()
    return folder


def why(course, student="ada"):
    return reason(course.directory, "small", student)


def test_everything_that_lies_there_is_a_submission(course, submitted):
    course.hand_in("ada")
    (submitted / "bob").mkdir()
    (submitted / "eve.ipynb").write_text("{}")
    (submitted / ".DS_Store").write_text("")
    course.hand_in("only-another", assignment="other")
    assert submitted_names(course.directory, "small") == ["ada", "bob", "eve.ipynb"]


def test_a_good_submission_has_nothing_wrong_with_it(course):
    course.hand_in("ada")
    assert why(course) is None


def test_empty_folder(course, submitted):
    (submitted / "ada" / "small").mkdir(parents=True)
    (submitted / "bob").mkdir()
    assert why(course) == "the folder is empty"
    assert why(course, "bob") == "the folder is empty"


def test_no_notebook(course, submitted):
    (submitted / "ada" / "small").mkdir(parents=True)
    (submitted / "ada" / "small" / "answers.pdf").write_text("")
    assert why(course) == "there is no notebook in it"


def test_a_file_for_a_folder(course, submitted):
    (submitted / "ada.ipynb").write_text("{}")
    assert "move it to ada.ipynb/small/small.ipynb" in why(course, "ada.ipynb")


def test_a_folder_too_deep_has_nothing_wrong_with_it(course):
    path = course.hand_in("ada")
    (path.parent / "homework").mkdir()
    path.rename(path.parent / "homework" / path.name)
    assert why(course) is None


def test_a_pipe_and_nothing_else(course, submitted):
    (submitted / "ada" / "small").mkdir(parents=True)
    os.mkfifo(submitted / "ada" / "small" / "pipe")
    assert why(course) == "it holds small/pipe (a named pipe)"
    os.mkfifo(submitted / "ada" / "small" / "small.ipynb")
    assert why(course) == "small.ipynb is not a file"


@pytest.mark.parametrize("name", ["a\nb", os.fsdecode(b"caf\xe9")])
def test_a_name_that_nbgrader_cannot_take(course, submitted, name):
    (submitted / name).mkdir()
    assert why(course, name).endswith("rename it")


def test_a_folder_of_another_name(course):
    path = course.hand_in("ada")
    path.parent.rename(path.parent.with_name("Small (1)"))
    assert "move ada/Small (1)/small.ipynb to ada/small/small.ipynb" in why(course)


def test_a_notebook_of_another_name_has_nothing_wrong_with_it(course):
    path = course.hand_in("ada")
    path.rename(path.with_name("small (1).ipynb"))
    assert why(course) is None


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b'{"cells": [', "ends in the middle"),
        (b"\xff\xfe\x00", "is damaged"),
        (b"[]", "is no notebook"),
    ],
)
def test_an_unreadable_notebook(course, content, words):
    course.hand_in("ada").write_bytes(content)
    assert why(course).startswith(f"small.ipynb {words}")


def test_a_name_that_nbgrader_takes_for_a_pattern(course):
    course.hand_in("ada [late]")
    assert "rename it" in why(course, "ada [late]")


def test_a_timestamp_that_is_no_date(course):
    path = course.hand_in("ada")
    (path.parent / "timestamp.txt").write_text("last Friday, I think")
    assert why(course) == "timestamp.txt holds no date: mend it or remove it"
    (path.parent / "timestamp.txt").write_text("2026-11-29 12:00:00 UTC")
    assert why(course) is None


@pytest.mark.filterwarnings("ignore:Object of type <Submitted:sqlalchemy.exc.SAWarning")
class TestWithoutGrade:
    @pytest.fixture(autouse=True)
    def _ada_is_graded(self, course):
        course.hand_in("ada")
        with Gradebook(course.directory.db_url) as book:
            book.add_assignment("small")
            book.add_student("ada")
            book.add_submission("small", "ada")
        (course.root / "autograded" / "ada" / "small").mkdir(parents=True)

    def missing(self, course, students, errors=()):
        return without_grade(course.directory, "small", students, dict(errors))

    def test_a_grade_needs_no_reason(self, course):
        assert self.missing(course, ["ada"]) == {}

    def test_an_entry_in_the_gradebook_is_no_grade(self, course):
        (course.root / "autograded" / "ada" / "small").rmdir()
        assert self.missing(course, ["ada"]) == {"ada": "not graded yet"}

    def test_the_error_that_nbgrader_met_is_told(self, course):
        course.hand_in("bob")
        error = RuntimeError("Kernel died\nat some length")
        found = self.missing(course, ["ada", "bob"], {"bob": error})
        assert found == {"bob": "RuntimeError: Kernel died"}

    def test_what_can_be_seen_from_the_files_comes_first(self, course):
        course.hand_in("bob").write_text("{")
        [told] = self.missing(course, ["bob"], {"bob": RuntimeError("Kernel died")}).values()
        assert "small.ipynb ends in the middle" in told
