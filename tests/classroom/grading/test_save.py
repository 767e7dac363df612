import nbformat
import pytest
from nbgrader.api import Gradebook
from nbgrader.preprocessors import saveautogrades

from classroom.grading.record import Record
from classroom.grading.save import SaveAllOrNothing
from classroom.register import register

pytestmark = pytest.mark.filterwarnings("ignore:Object of type <Submitted:sqlalchemy.exc.SAWarning")


@pytest.fixture
def graded(course):
    """A registered course in which ada has handed in: (course, her notebook, nbgrader's names)."""
    register(course.directory, "small", course.config)
    with Gradebook(course.directory.db_url) as gradebook:
        gradebook.add_student("ada")
        gradebook.add_submission("small", "ada")

    nb = nbformat.read(course.hand_in("ada"), as_version=4)
    names = {"notebook": "small", "assignment": "small", "student": "ada"}
    return course, nb, {"nbgrader": names | {"db_url": course.directory.db_url}}


def points(course):
    with Gradebook(course.directory.db_url) as gradebook:
        (notebook,) = gradebook.find_submission("small", "ada").notebooks
        return {grade.name: grade.auto_score for grade in notebook.grades}


def test_points_of_all_cells_are_saved(graded):
    course, nb, resources = graded
    SaveAllOrNothing().preprocess(nb, resources)
    assert points(course) == {"test_double_shape": 1, "test_double_value": 2}


def is_flagged(course):
    with Gradebook(course.directory.db_url) as gradebook:
        return gradebook.find_submission_notebook("small", "small", "ada").flagged


def test_what_a_human_should_look_at_is_flagged_until_a_human_says_otherwise(graded):
    course, nb, resources = graded
    SaveAllOrNothing().preprocess(nb, resources)
    assert not is_flagged(course)
    Record(finished=True, flags=["mentions gc"]).write(nb)
    SaveAllOrNothing().preprocess(nb, resources)
    assert is_flagged(course)
    Record(finished=True).write(nb)
    SaveAllOrNothing().preprocess(nb, resources)
    assert is_flagged(course)


def test_points_are_saved_all_or_not_at_all(graded, monkeypatch):
    course, nb, resources = graded
    determine = saveautogrades.utils.determine_grade

    def stop_at_the_second(cell, log):
        if cell.metadata.nbgrader.grade_id == "test_double_value":
            raise KeyboardInterrupt
        return determine(cell, log)

    monkeypatch.setattr(saveautogrades.utils, "determine_grade", stop_at_the_second)
    with pytest.raises(KeyboardInterrupt):
        SaveAllOrNothing().preprocess(nb, resources)
    assert set(points(course).values()) == {None}
