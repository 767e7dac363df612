import os
import sys
import warnings
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook
from nbgrader.converters import Autograde, GenerateAssignment
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import ClearSolutions
from sqlalchemy.exc import SAWarning
from traitlets.config import Config

from classroom import configure
from classroom.config import RELEASE
from classroom.register import register
from classroom.stub import WriteStubs


def test_every_pass_of_a_release_is_kept():
    plain = GenerateAssignment(coursedir=CourseDirectory())
    own = [WriteStubs if kind is ClearSolutions else kind for kind in plain.preprocessors]
    assert own == RELEASE


def test_what_is_set_for_all_assignments_is_known_to_leave_the_others_alone():
    """Each has a test here, in test_neighbours.py or in tests/nbgrader; limits of time, for one,
    would need one of its own."""
    config = Config()
    configure(config)
    assert {(section, name) for section in config for name in config[section]} == {
        ("Autograde", "exporter_class"),
        ("GenerateAssignment", "exporter_class"),
        ("GenerateAssignment", "preprocessors"),
        ("ZipCollectApp", "extractor_plugin"),
        ("ZipCollectApp", "collector_plugin"),
        ("HTMLExporter", "preprocessors"),
        ("HTMLExporter", "extra_template_basedirs"),
        ("HTMLExporter", "extra_template_paths"),
        ("GenerateFeedback", "exporter_class"),
        ("GenerateFeedback", "preprocessors"),
        ("FeedbackExporter", "template_name"),
        ("FeedbackExporter", "template_file"),
    }


def test_folder_of_the_interpreter_comes_last_on_path(monkeypatch):
    monkeypatch.setenv("PATH", os.pathsep.join(["/usr/bin", "/bin"]))
    configure(Config())
    configure(Config())
    folder = str(Path(sys.executable).parent)
    assert os.environ["PATH"].split(os.pathsep) == ["/usr/bin", "/bin", folder]


def test_an_empty_path_is_no_obstacle(monkeypatch):
    monkeypatch.delenv("PATH")
    configure(Config())
    assert os.environ["PATH"].split(os.pathsep) == [str(Path(sys.executable).parent)]


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
