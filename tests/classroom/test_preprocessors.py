import nbformat
import pytest
from nbconvert.exporters import NotebookExporter
from nbformat.v4 import new_output
from nbgrader.converters import Autograde
from nbgrader.utils import determine_grade

from classroom.preprocessors import OnlyErrorsCount, UseCourseCode


@pytest.fixture
def run(course):
    """Apply a preprocessor as a converter would: `run(kind, notebook, assignment)`."""
    converter = Autograde(coursedir=course.directory, config=course.config)
    exporter = NotebookExporter(parent=converter)

    def run(kind, notebook, assignment="small"):
        resources = {
            "nbgrader": {"assignment": assignment},
            "metadata": {"path": str(course.root)},
        }
        return kind(parent=exporter)(notebook, resources)[0]

    return run


@pytest.fixture
def notebook(course):
    return nbformat.read(course.source(), as_version=4)


class TestUseCourseCode:
    @pytest.fixture(autouse=True)
    def _submitted_code(self, course):
        (course.root / "attention_lab" / "check").mkdir(parents=True)
        (course.root / "attention_lab" / "check" / "__init__.py").write_text("")
        (course.root / "attention_lab.py").write_text("")
        (course.root / "attention_lab_notes.md").write_text("")

    def test_a_submitted_copy_never_counts(self, run, course, notebook):
        run(UseCourseCode, notebook)
        assert sorted(path.name for path in course.root.glob("attention*")) == [
            "attention_lab_notes.md"
        ]

    def test_a_link_is_removed_and_what_it_points_to_stays(self, run, course, notebook, tmp_path):
        target = tmp_path / "kept"
        (course.root / "attention_lab").rename(target)
        (course.root / "attention_lab").symlink_to(target)
        run(UseCourseCode, notebook)
        assert not (course.root / "attention_lab").exists()
        assert (target / "check").is_dir()


class TestOnlyErrorsCount:
    def grade(self, run, notebook, *outputs):
        cell = notebook.cells[3]
        cell.outputs = list(outputs)
        run(OnlyErrorsCount, notebook)
        nbformat.validate(notebook)
        return determine_grade(cell)[0]

    def test_a_warning_costs_nothing(self, run, notebook):
        warning = new_output("stream", name="stderr", text="UserWarning: mind the gap")
        assert self.grade(run, notebook, warning) == 2

    def test_what_was_printed_is_still_to_be_read(self, run, notebook):
        self.grade(run, notebook, new_output("stream", name="stderr", text="mind the gap"))
        assert notebook.cells[3].outputs[0].text == "mind the gap"

    @pytest.mark.parametrize("number", ["0.5", "2"])
    def test_a_displayed_number_is_no_grade(self, run, notebook, number):
        shown = new_output("execute_result", {"text/plain": number}, execution_count=1)
        error = new_output("error", ename="Mistake", evalue="", traceback=[])
        assert self.grade(run, notebook, shown) == 2
        assert self.grade(run, notebook, shown, error) == 0

    def test_an_error_costs_the_points(self, run, notebook):
        assert self.grade(run, notebook, new_output("error", ename="E", evalue="")) == 0
