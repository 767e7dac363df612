import json
from types import SimpleNamespace

import pytest

from attention_lab import ready_to_submit
from attention_lab.handin import ready

from .conftest import STUB, cell


@pytest.fixture(autouse=True)
def _one_lesson(lesson, tmp_path, monkeypatch):
    monkeypatch.setattr(ready, "released_lessons", lambda: [lesson])
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)


@pytest.fixture
def check(capsys):
    """`check(cells, name)`: save them as a notebook and look; (what came back, lines printed)."""

    def check(cells, name="small.ipynb"):
        with open(name, "w", encoding="utf-8") as file:
            json.dump({"cells": list(cells)}, file)
        found = ready_to_submit()
        return found, capsys.readouterr().out.splitlines()

    return check


@pytest.fixture
def notebook(notebook):
    """Every check has been run, and has passed."""
    for name in ("test_double", "test_halve"):
        notebook[name]["outputs"] = [{"output_type": "stream", "text": "✓"}]
    return notebook


def test_a_notebook_that_is_ready(check, notebook):
    found, printed = check(notebook.values())
    assert found
    assert repr(found) == "Ready to hand in."
    assert len(printed) == 1
    assert printed[0].startswith("small.ipynb as it was saved at ")


def to_do(check, cells, name="small.ipynb"):
    found, printed = check(cells, name)
    assert [line.removeprefix("  ✗ ") for line in printed[1:] if "✗" in line] == [*found.to_do]
    assert bool(found) == (not found.to_do)
    return found.to_do


def test_a_stub(check, notebook):
    notebook["halve"]["source"] = STUB.format("halve")
    [line] = to_do(check, notebook.values())
    assert line.startswith("halve: not written yet.")


def test_a_step_may_stay_unwritten(check, notebook):
    assert check(notebook.values())[0].copes == ()
    notebook["double"]["source"] = STUB.format("double")
    notebook["halve"]["source"] = STUB.format("halve")
    [line] = check(notebook.values())[0].copes
    assert line.endswith("You may hand in without it.")


def test_an_answer_that_is_missing(check, notebook):
    del notebook["halve"]
    [line] = to_do(check, notebook.values())
    assert line.startswith("halve: no cell answers it.")


def test_what_has_to_be_done_is_counted(check, notebook):
    del notebook["halve"]
    assert repr(check(notebook.values())[0]) == "Not finished yet: 1 thing to do."
    notebook["double"]["source"] = "def dubble(x): return 2 * x"
    assert repr(check(notebook.values())[0]) == "Not finished yet: 2 things to do."


def test_a_wrong_name(check, notebook):
    [line] = to_do(check, notebook.values(), "small (1).ipynb")
    assert line == "The file is called small (1).ipynb. Rename it to small.ipynb."


def error(name, text):
    return {"output_type": "error", "ename": name, "evalue": text}


def test_an_error_that_was_left(check, notebook):
    notebook["test_double"]["outputs"] = [error("Mistake", "double: twice, not thrice\n..")]
    [line] = to_do(check, notebook.values())
    assert line == "test_double: did not pass when it was last run. double: twice, not thrice"
    notebook["test_double"]["outputs"] = [error("NameError", "no double")]
    [line] = to_do(check, notebook.values())
    assert line == "test_double: ended with NameError when it was last run. no double"


def test_checks_that_were_not_run(check, notebook):
    notebook["test_double"]["outputs"] = []
    [line] = to_do(check, notebook.values())
    assert line.startswith("1 of 2 checks have no result here. Choose Run →")


def test_a_check_that_fails_and_one_that_was_not_run(check, notebook):
    notebook["test_double"]["outputs"] = [error("Mistake", "double: twice, not thrice")]
    notebook["test_halve"]["outputs"] = []
    failed, not_run = to_do(check, notebook.values())
    assert failed.startswith("test_double: did not pass")
    assert not_run.startswith("1 of 2 checks have no result here. Choose Run →")


def test_what_was_run_but_not_saved(check, notebook, monkeypatch):
    ran = ["def double(x):\n    return x", "def double(x):\n    return x * 2", "double(3)"]
    history = SimpleNamespace(input_hist_raw=ran)
    shell = SimpleNamespace(user_ns={}, history_manager=history)
    monkeypatch.setattr(ready, "get_ipython", lambda: shell)
    [line] = to_do(check, notebook.values())
    assert line == "double: what you ran last is not in the saved file. Save the notebook."
    notebook["double"]["source"] = ran[1]
    assert to_do(check, notebook.values()) == ()


def test_what_the_grader_copes_with_is_said_and_keeps_nobody(check, notebook):
    notebook["double"]["metadata"] = {}
    notebook["test_halve"]["source"] = "check.halve(halve)  # mine"
    del notebook["setup"], notebook["test_double"]
    found, printed = check(notebook.values())
    assert found
    assert printed[1:] == [
        "  · 1 cell has lost nbgrader's mark. The grader knows it by its id or its text.",
        "  · setup: gone. The grader puts it back.",
        "  · test_double: gone. The grader puts it back.",
        "  · test_halve: changed. The grader runs its own.",
    ]


def test_another_notebook(check):
    [line] = to_do(check, [cell("print(3)")], "other.ipynb")
    assert line.startswith("No cell of the lesson is in this notebook.")


def test_the_edition_for_self_learners_is_not_handed_in(check, notebook):
    for made in notebook.values():
        made["metadata"] = {"id": made["id"]}
    notebook["halve"]["source"] = STUB.format("halve")
    found, printed = check([cell("%%course_files\n═══ x.py\n1"), *notebook.values()])
    assert "nothing to hand in" in printed[0]
    assert [line.partition(":")[0] for line in found.to_do] == ["halve"]


def test_a_file_that_cannot_be_found_is_said(capsys):
    found = ready_to_submit("none.ipynb")
    assert not found
    assert "none.ipynb cannot be read" in capsys.readouterr().out


def test_nothing_is_raised(check, notebook, monkeypatch):
    monkeypatch.setattr(ready, "inspect", None)
    assert not check(notebook.values())[0]


def test_while_grading_it_says_nothing(capsys, monkeypatch):
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    assert ready_to_submit("none.ipynb") is None
    assert capsys.readouterr().out == ""
