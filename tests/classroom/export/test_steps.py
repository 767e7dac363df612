import functools

import nbformat
import pytest
from nbformat.v4 import new_notebook

from classroom.grading.record import Record

pytestmark = pytest.mark.filterwarnings("ignore:Object of type <Submitted:sqlalchemy.exc.SAWarning")


@pytest.fixture
def export(export):
    return functools.partial(export, "StepsExporter", file="steps.csv")


def test_every_cell_of_every_student(course, export, grade, roster):
    roster("student_id,name\nada,Ada\nbob,=Bob\ncyd,Cyd\ndee,Dee\n")
    grade("ada", 1, 2, penalty=1)
    grade("bob", 1, None)
    grade("dee", None, None)
    course.hand_in("dee").write_text("{")
    path = course.root / "autograded" / "ada" / "small" / "small.ipynb"
    path.parent.mkdir(parents=True)
    notebook = new_notebook()
    Record(finished=True, flags=["mentions gc"]).write(notebook)
    nbformat.write(notebook, path)
    rows, _ = export()
    assert rows == [
        ["student", "name", "small test_double_shape", "small test_double_value", "small total",
         "small late penalty", "small needs a human"],
        ["points possible", "", "1", "2", "3", "", ""],
        ["ada", "Ada", "1", "2", "2", "1", "mentions gc"],
        ["bob", "'=Bob", "1", "", "", "0", "test_double_value is to be looked at"],
        ["cyd", "Cyd", "", "", "", "", ""],
        ["dee", "Dee", "", "", "", "0",
         "small.ipynb ends in the middle, as if cut off: ask for it again"],
    ]  # fmt: skip


def test_spreadsheets_are_told_that_it_is_utf8(course, export, grade):
    grade("ada", 1, 2)
    export()
    assert (course.root / "steps.csv").read_bytes().startswith(b"\xef\xbb\xbf")
