from types import SimpleNamespace

import pytest
from nbconvert.exporters import NotebookExporter
from nbformat.v4 import new_notebook
from nbgrader.converters import Autograde

from classroom.grading.execute import SandboxedExecute
from classroom.grading.exporter import GradingExporter


@pytest.fixture
def exporter(course):
    converter = Autograde(coursedir=course.directory, config=course.config)
    converter.assignments = {}
    return GradingExporter(parent=converter, config=course.config)


def test_notebooks_run_in_the_sandbox_of_the_command(exporter):
    ran, notebook = [], new_notebook()
    exporter.grading = SimpleNamespace(run=lambda *given: ran.append(given))
    SandboxedExecute(parent=exporter).preprocess(notebook, {"name": 1})
    assert ran == [(notebook, {"name": 1})]


def test_another_exporter_is_refused_with_what_to_do(exporter):
    other = NotebookExporter(parent=exporter.parent)
    with pytest.raises(TypeError, match=r"classroom\.configure"):
        SandboxedExecute(parent=other).preprocess(new_notebook(), {})
