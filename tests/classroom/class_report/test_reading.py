import nbformat
import pytest
from nbgrader.api import Gradebook, MissingEntry

from classroom.class_report.reading import UNNAMED, UNWRITTEN, Submission, read_class
from classroom.grading.record import Record
from classroom.register import register

pytestmark = pytest.mark.filterwarnings("ignore:Object of type <Submitted:sqlalchemy.exc.SAWarning")
RIGHT = "def double(x):\n    return 2 * x"
STUB = "def double(x):\n    # YOUR CODE HERE\n    raise NotWrittenYet"
SHAPE, VALUE = "test_double_shape", "test_double_value"


@pytest.fixture
def grade(course):
    """Hands in an answer and puts a grade and a record beside it, as autograding does."""
    register(course.directory, "small", course.config)

    def grade(student, shape, value, answer=RIGHT, record=None):
        notebook = nbformat.read(course.hand_in(student, answer), as_version=4)
        (record or Record(True, "bubblewrap", 1)).write(notebook)
        path = course.root / "autograded" / student / "small" / "small.ipynb"
        path.parent.mkdir(parents=True)
        nbformat.write(notebook, path)
        with Gradebook(course.directory.db_url) as book:
            book.update_or_create_student(student)
            [graded] = book.update_or_create_submission("small", student).notebooks
            for cell in graded.grades:
                cell.auto_score = shape if cell.name == SHAPE else value
                cell.needs_manual_grade = cell.auto_score is None
            book.db.commit()

    return grade


def read(course):
    return read_class(course.directory, "small")


def test_right_answers(course, grade):
    grade("ada", 1, 2)
    found = read(course)
    assert found.maximum == {"double": 3}
    assert found.submissions == [Submission("ada", {"double": 3}, 3, {}, {"double": RIGHT})]
    assert found.ungraded == {}


def test_mistakes_are_those_that_the_checks_recognised(course, grade):
    named = Record(True, "bubblewrap", 1, [], {SHAPE: "doubled-twice", VALUE: "doubled-twice"})
    grade("ada", 0, 0, record=named)
    grade("bob", 1, 0)
    grade("cyd", 0, 0, answer=STUB)
    grade("dan", 0, 0, answer="")
    assert [s.mistakes for s in read(course).submissions] == [
        {"double": ["doubled-twice"]}, {"double": [UNNAMED]}, {"double": [UNWRITTEN]},
        {"double": [UNWRITTEN]},
    ]  # fmt: skip
    assert [s.answers for s in read(course).submissions][2:] == [{}, {}]


def test_reasons_for_a_human_name_nobody(course, grade):
    grade("ada", 1, None, record=Record(True, "none", 1, ["mentions gc"]))
    (ada,) = read(course).submissions
    assert ada.points == {"double": None}
    assert ada.total is None
    assert ada.notes == (
        f"{VALUE} has no points yet: the cell is missing or is graded by hand",
        "mentions gc",
        "graded without a sandbox",
    )


def test_what_has_no_grade_is_told_apart(course, grade):
    grade("ada", 1, 2)
    (course.root / "submitted" / "bob").mkdir()
    found = read(course)
    assert [s.student for s in found.submissions] == ["ada"]
    assert found.ungraded == {"bob": "the folder is empty"}


def test_nothing_was_graded(course):
    with pytest.raises(MissingEntry):
        read(course)
