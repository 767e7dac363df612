import pytest
from nbgrader.api import Gradebook
from nbgrader.converters import Autograde

from classroom.register import register
from classroom.repair import flags
from classroom.repair.exporter import RepairingExporter
from classroom.repair.reading import Unreadable


@pytest.fixture
def export(course, released, monkeypatch):
    """`export(path)`: the notebook that nbgrader gets when it asks for this path."""
    monkeypatch.setattr(RepairingExporter, "_concerned", lambda self: False)
    converter = Autograde(coursedir=course.directory, config=course.config)
    exporter = RepairingExporter(parent=converter)
    monkeypatch.setattr(exporter, "from_notebook_node", lambda nb, resources, **kw: (nb, resources))
    return lambda path: exporter.from_filename(str(path), {"nbgrader": {}})


def test_the_file_that_holds_the_work_is_read(course, export):
    path = course.hand_in("ada")
    path.rename(path.with_name("Copy of small.ipynb"))
    notebook, resources = export(path)
    assert notebook.cells[1].source == "def double(x):\n    return 2 * x"
    assert resources["metadata"] == {"name": "small", "path": str(path.parent)}
    assert flags.read(notebook) == ([], {})


def test_the_reason_is_raised_where_there_is_none(course, export):
    path = course.hand_in("ada")
    path.write_text("")
    with pytest.raises(Unreadable, match="is empty"):
        export(path)


@pytest.mark.filterwarnings("ignore:Object of type <Submitted:sqlalchemy.exc.SAWarning")
def test_zero_that_nbgrader_gives_for_another_name_is_taken_back(course, export):
    register(course.directory, "small", course.config)
    path = course.hand_in("ada")
    path.rename(path.with_name("answers.ipynb")).write_text("{")
    with Gradebook(course.directory.db_url) as book:
        book.add_student("ada")
        [notebook] = book.add_submission("small", "ada").notebooks
        for grade in notebook.grades:
            grade.auto_score, grade.needs_manual_grade = 0, False
        book.db.commit()
    with pytest.raises(Unreadable):
        export(path)
    with Gradebook(course.directory.db_url) as book:
        [notebook] = book.find_submission("small", "ada").notebooks
        assert {(grade.auto_score, grade.needs_manual_grade) for grade in notebook.grades} == {
            (None, True)
        }


def test_what_nbgrader_wrote_itself_is_read_as_ever(course, export):
    path = course.root / "autograded" / "ada" / "small" / "small.ipynb"
    path.parent.mkdir(parents=True)
    path.write_bytes(course.source().read_bytes())
    notebook, _ = export(path)
    assert "HIDDEN" in notebook.cells[3].source


def test_other_assignments_are_read_as_ever(course, export):
    path = course.hand_in("ada", assignment="other")
    assert export(path)[0].metadata.kernelspec.name == "python3"
