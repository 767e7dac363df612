import nbformat
import pytest

from classroom.graded import Graded, flags_of, read_graded
from classroom.grading.record import Record
from classroom.repair import flags
from classroom.repair.flags import Notes

RECORD = Record(True, flags=["mentions gc"], misconceptions={"test_double_value": "halved"})


@pytest.fixture
def folder(course):
    folder = course.root / "autograded" / "ada" / "small"
    folder.mkdir(parents=True)
    notebook = nbformat.read(course.source(), as_version=4)
    RECORD.write(notebook)
    flags.write(notebook, Notes(["a guess"]))
    nbformat.write(notebook, folder / "small.ipynb")
    return folder


def test_what_was_noted_and_written(course, folder):
    [(name, graded)] = read_graded(course.directory, "small", "ada").items()
    assert (name, graded.record, graded.guessed) == ("small", RECORD, True)
    assert graded.misconceptions == {"test_double_value": "halved"}
    assert graded.answers.keys() == {"double"}


def test_the_flags_of_several_notebooks(course, folder):
    source = course.source("other").read_bytes()
    (folder / "theirs.ipynb").write_bytes(source)
    assert flags_of(course.directory, "small", "ada") == (["mentions gc"], True)
    assert read_graded(course.directory, "small", "ada")["theirs"].record is None


def test_nobody_has_a_notebook(course):
    assert flags_of(course.directory, "small", "bob") == ([], False)


def test_a_notebook_that_cannot_be_read_is_a_flag(course, folder):
    (folder / "small.ipynb").chmod(0o600)
    (folder / "small.ipynb").write_text("[" * 100_000)
    told = "its graded notebook is nested too deeply"
    assert flags_of(course.directory, "small", "ada") == ([told], False)
    assert Graded().flags == []
