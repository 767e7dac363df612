import json

import pytest
from nbconvert.preprocessors import Preprocessor
from nbformat import NotebookNode
from nbgrader.converters import Autograde

from classroom.grading.exporter import GradingExporter, _text


class Count(Preprocessor):
    """A pass that counts the notebooks it is run on, and leaves the number in them."""

    enabled = True

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.notebooks = 0

    def preprocess(self, nb, resources):
        self.notebooks += 1
        return NotebookNode({**nb, "metadata": {"count": self.notebooks}}), resources


@pytest.fixture
def convert(course, monkeypatch):
    """`convert(path)`: the number that `Count`, the only pass, left in the notebook."""
    monkeypatch.setattr(GradingExporter, "_concerned", lambda self: False)
    converter = Autograde(coursedir=course.directory, config=course.config)
    converter.sanitize_preprocessors = converter.autograde_preprocessors = [Count]
    exporter = GradingExporter(parent=converter, config=course.config)

    def convert(path, ahead=False, assignment="small"):
        resources = {"nbgrader": {"assignment": assignment}}
        if ahead:
            return exporter.sanitise(path, resources).notebook.metadata["count"]
        exporter._preprocessors = []
        exporter.register_preprocessor(Count)
        text, _ = exporter.from_filename(str(path), resources)
        return json.loads(text)["metadata"]["count"]

    return convert


def test_what_was_sanitised_ahead_is_sanitised_again_only_if_it_has_changed(course, convert):
    path = course.hand_in("ada")
    assert convert(path, ahead=True) == convert(path) == 1
    assert convert(path, ahead=True) == 2
    path.write_text(path.read_text(encoding="utf-8").replace("2 * x", "x"), encoding="utf-8")
    assert convert(path) == 3


def test_what_nbgrader_wrote_is_autograded_even_if_somebody_has_changed_it(course, convert):
    path = course.hand_in("ada")
    convert(path)
    written = course.root / "autograded" / "ada" / "small" / "small.ipynb"
    written.parent.mkdir(parents=True)
    written.write_text('{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}')
    assert convert(written) == 1


def test_passes_are_made_once_and_for_other_assignments_for_each_notebook(course, convert):
    paths = [course.hand_in(student) for student in ("ada", "bob")]
    assert [convert(path) for path in paths] == [1, 2]
    paths = [course.hand_in(student, assignment="other") for student in ("ada", "bob")]
    assert [convert(path, assignment="other") for path in paths] == [1, 1]


def test_what_utf8_cannot_hold_is_written_as_question_marks():
    text = _text(NotebookNode(cells=["ü\ud800"], metadata={"\udcff": 1}))
    assert json.loads(text.encode()) == {"cells": ["ü?"], "metadata": {"?": 1}}


def test_other_assignments_are_left_to_nbgrader(course):
    directory = course.directory
    directory.assignment_id = "other"
    converter = Autograde(coursedir=directory, config=course.config)
    converter.init_notebooks = lambda: None
    converter.assignments = {
        str(course.hand_in("ada", assignment="other").parent): [],
    }
    assert GradingExporter(parent=converter, config=course.config).grading is None
