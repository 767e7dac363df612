import hashlib
import sqlite3

import nbformat
import pytest

from classroom import grade
from classroom.regrade import trial
from classroom.regrade.__main__ import main
from classroom.regrade.marks import Mark

pytestmark = pytest.mark.filterwarnings("ignore:Object of type <Submitted:sqlalchemy.exc.SAWarning")

WRONG = "def double(x):\n    return x"


def new_version(cells):
    """A value that was tested wrongly, one more test, and a better name for the other one."""
    cells[2].id = cells[2].metadata.nbgrader.grade_id = "test_double_type"
    cells[3].source = "assert double(3) in (3, 6)"
    more = nbformat.from_dict(cells[3])
    more.id = more.metadata.nbgrader.grade_id = "test_double_zero"
    more.source = "assert double(0) == 0"
    cells.append(more)


def test_a_class_is_graded_again_and_only_then_changed(graded, monkeypatch, capsys):
    """With nbgrader's own grading, in sandboxes."""
    monkeypatch.setattr(trial, "run_nbgrader", grade.run_nbgrader)
    path = graded.root / "submitted" / "bob" / "small" / "small.ipynb"
    notebook = nbformat.read(path, as_version=4)
    notebook.cells[1].source = WRONG
    nbformat.write(notebook, path)
    graded.by_hand("ada", "test_double_shape", 0.5, "as text")
    graded.edit_source(new_version)
    digest = hashlib.sha256((graded.root / "gradebook.db").read_bytes()).digest()

    assert main(["small"]) == 0
    table = capsys.readouterr().out
    assert "small: 2 submissions graded again on" in table
    assert "test_double_type: test_double_shape until now" in table
    assert "  bob: 1 → 5\n    test_double_value 0 → 2: another text\n" in table
    assert "    test_double_zero none → 2: new, 2 points" in table
    assert hashlib.sha256((graded.root / "gradebook.db").read_bytes()).digest() == digest

    assert main(["small", "--apply"]) == 0
    assert capsys.readouterr().out.startswith(table.partition("\nNothing is changed")[0])
    assert {name: mark.auto for (_, name), mark in graded.marks("bob").cells.items()} == {
        "test_double_type": 1,
        "test_double_value": 2,
        "test_double_zero": 2,
    }
    assert graded.marks("ada").cells["small", "test_double_type"] == Mark(1, 0.5, None, True)
    assert "double(0)" in graded.autograded("bob").read_text()

    assert main(["small", "--apply"]) == 2
    assert "there is nothing to apply" in capsys.readouterr().err


def said(capsys):
    """What was said, without a traceback."""
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "Traceback" not in printed.err
    return printed.err


def test_no_gradebook_is_said(course, capsys):
    assert main(["small"]) == 2
    assert "there is no gradebook" in said(capsys)


def test_no_such_assignment_is_said(graded, capsys):
    assert main(["tiny"]) == 2
    assert "there is no notebook of tiny in" in said(capsys)


def test_nothing_to_apply_is_said(graded, capsys):
    assert main(["small", "--apply"]) == 2
    assert "run python -m classroom.regrade small first" in said(capsys)


def test_a_renaming_that_is_none_is_said(graded, capsys):
    assert main(["small", "--renamed", "test_double_value=test_twice"]) == 2
    assert "is not renamed to test_twice" in said(capsys)


def test_a_locked_gradebook_is_said(graded, capsys):
    url = f"{graded.directory.db_url}?timeout=0.1"
    with (graded.root / "nbgrader_config.py").open("a") as config:
        config.write(f"c.CourseDirectory.db_url = {url!r}\n")
    main(["small"])
    capsys.readouterr()
    lock = sqlite3.connect(graded.root / "gradebook.db", isolation_level=None)
    lock.execute("begin exclusive")
    assert main(["small", "--apply"]) == 2
    lock.execute("rollback")
    lock.close()
    assert "database is locked" in said(capsys)


@pytest.mark.parametrize(
    "arguments", [["small", "--renamed", "a"], ["small", "--apply", "--renamed", "a=b"], []]
)
def test_wrong_options_are_refused(arguments, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(arguments)
    assert "usage:" in capsys.readouterr().err
