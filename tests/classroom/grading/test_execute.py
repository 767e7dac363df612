from types import SimpleNamespace

import pytest
from nbconvert.exporters import NotebookExporter
from nbformat.v4 import new_notebook
from nbgrader.converters import Autograde
from nbgrader.preprocessors import Execute

from classroom.grading.execute import SandboxedExecute
from classroom.grading.exporter import GradingExporter


@pytest.fixture
def exporter(course):
    converter = Autograde(coursedir=course.directory, config=course.config)
    converter.assignments = {}
    return GradingExporter(parent=converter, config=course.config)


@pytest.fixture
def ran(exporter, monkeypatch):
    """Who ran a notebook, instead of running it."""
    by = []
    exporter.grading = SimpleNamespace(run=lambda nb, resources: by.append("sandbox"))
    monkeypatch.setattr(Execute, "preprocess", lambda self, nb, *_: by.append("nbgrader"))
    return by


@pytest.mark.parametrize(("assignment", "who"), [("small", "sandbox"), ("other", "nbgrader")])
def test_notebooks_built_on_attention_lab_run_in_the_sandbox(exporter, ran, assignment, who):
    resources = {"nbgrader": {"assignment": assignment}}
    SandboxedExecute(parent=exporter).preprocess(new_notebook(), resources)
    assert ran == [who]


def test_another_exporter_is_refused_with_what_to_do(exporter):
    other = NotebookExporter(parent=exporter.parent)
    with pytest.raises(TypeError, match=r"classroom\.configure"):
        SandboxedExecute(parent=other).preprocess(new_notebook(), {})
