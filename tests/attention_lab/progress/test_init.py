import pytest

from attention_lab import check, progress
from attention_lab.check import steps
from attention_lab.progress import session
from attention_lab.progress.solutions import Solution


class Notebook:
    """What IPython's shell is where a kernel serves a notebook."""

    kernel = object()

    def __init__(self):
        self.cells = []

    def set_next_input(self, text, replace):
        self.cells.append((text, replace))


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    new = session.Session(None)
    monkeypatch.setattr(progress, "_session", new)
    monkeypatch.setattr(check.run, "_listeners", [new.note])


def test_a_check_counts():
    check.attend(steps.attend, aspect="value")
    assert "1 of 26 points" in str(progress.summary())


def test_a_notebook_that_is_graded_has_no_summary(monkeypatch):
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    assert progress.summary() is None


def test_a_reset_replaces_the_cell_and_takes_the_results_back(monkeypatch, capsys):
    notebook = Notebook()
    monkeypatch.setattr(progress, "shell", lambda: notebook)
    check.attend(steps.attend)
    progress.reset("attend")
    ((text, replace),) = notebook.cells
    assert text.startswith("def attend(weights, v):")
    assert text.endswith("    raise NotWrittenYet")
    assert replace
    assert "0 of 26 points" in str(progress.summary())
    assert "Undo" in capsys.readouterr().out


def test_without_a_notebook_a_reset_prints_the_stub(capsys):
    progress.reset("attend")
    assert "raise NotWrittenYet" in capsys.readouterr().out


def test_an_exercise_that_is_none_is_told():
    with pytest.raises(ValueError, match="no exercise 'atend'; there are one_query, project"):
        progress.reset("atend")


def test_a_solution_that_the_edition_brings_is_shown(monkeypatch):
    attend = Solution("attend", "weights @ v")
    monkeypatch.setattr(progress, "read_solutions", lambda: {"attend": attend})
    assert progress.solution("attend") is attend
    with pytest.raises(ValueError, match="no solution of 'attned'; it brings attend"):
        progress.solution("attned")


def test_the_classrooms_editions_bring_no_solution():
    with pytest.raises(ValueError, match="it brings none"):
        progress.solution("attend")
