import nbformat
import pytest
from nbgrader.api import Gradebook
from nbgrader.converters import Autograde

from classroom.register import register
from classroom.repair import flags
from classroom.repair.exporter import RepairingExporter
from classroom.repair.reading import Unreadable


@pytest.fixture
def exporter(course, released, monkeypatch):
    monkeypatch.setattr(RepairingExporter, "_concerned", lambda self: False)
    converter = Autograde(coursedir=course.directory, config=course.config)
    return RepairingExporter(parent=converter)


def test_the_file_that_holds_the_work_is_read(course, exporter):
    path = course.hand_in("ada")
    path.rename(path.with_name("Copy of small.ipynb"))
    notebook = nbformat.reads(exporter.read(path), 4)
    assert notebook.cells[1].source == "def double(x):\n    return 2 * x"
    assert flags.read(notebook) == flags.Notes([], {}, [])


def test_the_reason_is_raised_where_there_is_none(course, exporter):
    path = course.hand_in("ada")
    path.write_text("")
    with pytest.raises(Unreadable, match="is empty"):
        exporter.read(path)


@pytest.mark.filterwarnings("ignore:Object of type <Submitted:sqlalchemy.exc.SAWarning")
def test_zero_that_nbgrader_gives_for_another_name_is_taken_back(course, exporter):
    register(course.directory, "small", course.config)
    path = course.hand_in("ada")
    path.rename(path.with_name("answers.ipynb")).write_text("{")
    with Gradebook(course.directory.db_url) as book:
        book.add_student("ada")
        [notebook] = book.add_submission("small", "ada").notebooks
        for grade in notebook.grades:
            grade.auto_score, grade.needs_manual_grade = 0, False
        book.db.commit()
    names = {"assignment": "small", "student": "ada", "notebook": "small"}
    with pytest.raises(Unreadable):
        exporter.from_filename(str(path), {"nbgrader": names})
    with Gradebook(course.directory.db_url) as book:
        [notebook] = book.find_submission("small", "ada").notebooks
        assert {(grade.auto_score, grade.needs_manual_grade) for grade in notebook.grades} == {
            (None, True)
        }
