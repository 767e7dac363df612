import os
import sys
import warnings
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook
from nbgrader.converters import Autograde
from nbgrader.coursedir import CourseDirectory
from sqlalchemy.exc import SAWarning
from traitlets.config import Config

from classroom import configure
from classroom.config import AUTOGRADE, SANITIZE
from classroom.register import register


def test_preprocessors_are_set_whole_however_often_it_is_called():
    config = Config()
    configure(config)
    configure(config)
    converter = Autograde(coursedir=CourseDirectory(), config=config)
    assert converter.sanitize_preprocessors == SANITIZE
    assert converter.autograde_preprocessors == AUTOGRADE


def test_every_pass_of_nbgrader_is_kept():
    plain = Autograde(coursedir=CourseDirectory())
    for theirs in plain.sanitize_preprocessors:
        assert any(issubclass(ours, theirs) for ours in SANITIZE)
    for theirs in plain.autograde_preprocessors:
        assert any(issubclass(ours, theirs) for ours in AUTOGRADE)


def test_a_busy_machine_gets_time():
    config = Config()
    configure(config)
    assert config.Execute.iopub_timeout >= 60


def test_folder_of_the_interpreter_is_put_on_path_once(monkeypatch):
    monkeypatch.setenv("PATH", os.pathsep.join(["/usr/bin", "/bin"]))
    configure(Config())
    configure(Config())
    folder = str(Path(sys.executable).parent)
    assert os.environ["PATH"].split(os.pathsep) == [folder, "/usr/bin", "/bin"]


def test_an_empty_path_is_no_obstacle(monkeypatch):
    monkeypatch.delenv("PATH")
    configure(Config())
    assert str(Path(sys.executable).parent) in os.environ["PATH"].split(os.pathsep)


def test_no_remarks_on_how_nbgrader_enters_a_submission(course):
    register(course.directory, "small", course.config)
    with warnings.catch_warnings(), Gradebook(course.directory.db_url) as book:
        warnings.simplefilter("error")
        book.add_student("ada")
        with pytest.raises(SAWarning):
            book.add_submission("small", "ada")
        book.db.rollback()
        configure(Config())
        book.add_submission("small", "ada")


@pytest.mark.parametrize("claim", [{"flags": ["look here"]}, {"finished": False, "x": 1}, ["x"]])
def test_notes_that_a_student_made_up_in_another_assignment_are_not_believed(course, claim):
    register(course.directory, "other", course.config)
    path = course.hand_in("ada", assignment="other")
    nb = nbformat.read(path, as_version=4)
    nb.metadata |= {"grading": claim, "repair": claim, "own": claim}
    nbformat.write(nb, path)
    course.config.Execute.enabled = False  # a kernel takes seconds
    directory = course.directory
    directory.assignment_id = "other"
    Autograde(coursedir=directory, config=course.config).start()
    with Gradebook(directory.db_url) as book:
        assert not book.find_submission_notebook("other", "other", "ada").flagged
    nb = nbformat.read(course.root / "autograded/ada/other/other.ipynb", as_version=4)
    assert nb.metadata.keys() & {"grading", "repair", "own"} == {"own"}
