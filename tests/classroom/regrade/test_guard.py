import pytest
from nbgrader.converters import GenerateAssignment
from nbgrader.converters.base import NbGraderException

pytestmark = pytest.mark.filterwarnings("ignore:Object of type <Submitted:sqlalchemy.exc.SAWarning")


def generate(graded, assignment="small"):
    directory = graded.directory
    directory.assignment_id = assignment
    converter = GenerateAssignment(coursedir=directory, config=graded.config)
    converter.force = True
    converter.start()


def released(graded):
    return {path.name for path in (graded.root / "release").rglob("*.ipynb")}


@pytest.mark.parametrize("change", ["removed", "renamed"])
def test_a_release_is_not_removed_for_cells_that_nbgrader_would_refuse(graded, change, caplog):
    generate(graded)
    graded.edit_source(
        lambda cells: (
            cells.pop(3)
            if change == "removed"
            else cells[3].metadata.nbgrader.update(grade_id="test_twice")
        )
    )
    with pytest.raises(NbGraderException, match=r"python -m classroom\.regrade small"):
        generate(graded)
    assert "test_double_value" in caplog.text
    assert released(graded) == {"small.ipynb"}


def test_another_text_is_released(graded, change_text):
    generate(graded)
    graded.edit_source(change_text)
    generate(graded)
    assert "double(4)" in (graded.root / "release" / "small" / "small.ipynb").read_text()


def test_before_the_first_submission_everything_may_change(course):
    generate(course)
    path = course.source()
    path.write_text(path.read_text().replace("test_double_value", "test_twice"))
    generate(course)
    assert "test_twice" in (course.root / "release" / "small" / "small.ipynb").read_text()


def test_other_assignments_are_left_to_nbgrader(graded):
    generate(graded, "other")
    assert released(graded) == {"other.ipynb"}
