import errno
import json
import logging
import os
import sqlite3
from contextlib import closing

import nbformat
import pytest
from nbconvert.writers import FilesWriter
from nbgrader.api import Gradebook

from classroom.grade import GivenUp, main
from classroom.register import register

CONFIG = "from classroom import configure\n\nc = get_config()\nconfigure(c)\n"


@pytest.fixture
def course(course):
    (course.root / "nbgrader_config.py").write_text(CONFIG)
    return course


def edit(path, change):
    notebook = nbformat.read(path, as_version=4)
    change(notebook.cells)
    nbformat.write(notebook, path)


def copy(cell):
    return nbformat.from_dict({**cell, "id": "copied"})


def lines(capsys):
    """What was printed, by the first word of each line."""
    return {line.split()[0]: line for line in capsys.readouterr().out.splitlines() if line.strip()}


def test_one_bad_submission_stops_nobody(course, capsys):
    course.hand_in("ada")
    course.hand_in("bob", "def double(x):\n    return x")
    (course.root / "submitted" / "cyd").mkdir()
    course.hand_in("dan").write_text('{"cells": [')
    edit(course.hand_in("eve"), lambda cells: cells.append(copy(cells[3])))
    edit(course.hand_in("flo"), lambda cells: cells.pop(3))
    edit(course.hand_in("gus"), lambda cells: cells[1].metadata.nbgrader.update(schema_version=9))
    course.hand_in("zoe")

    assert main([]) == 1

    printed = lines(capsys)
    assert printed["ada"].split()[1:] == ["3", "3"]
    assert printed["bob"].split()[1:] == ["1", "1"]
    assert printed["cyd:"] == "  cyd: the folder is empty"
    assert printed["dan:"].startswith("  dan: small.ipynb ends in the middle")
    for student in ("eve", "flo", "gus", "zoe"):
        assert printed[student].split()[1:] == ["3", "3"]
    assert printed["Feedback"].endswith(" feedback/")
    feedback = {path.name for path in (course.root / "feedback").iterdir()}
    assert feedback == {"ada", "bob", "eve", "flo", "gus", "zoe"}


def test_submissions_lie_where_the_course_says(course, capsys):
    config = CONFIG + 'c.CourseDirectory.submitted_directory = "handed in"\n'
    (course.root / "nbgrader_config.py").write_text(config)
    assert main([]) == 2
    assert "put submissions into handed in/<student>" in capsys.readouterr().err
    course.hand_in("ada")
    (course.root / "submitted").rename(course.root / "handed in")
    assert main([]) == 0
    assert lines(capsys)["ada"].split()[1:] == ["3", "3"]


def test_what_was_guessed_is_graded_and_told(course, capsys):
    course.hand_in("ada")
    assert main([]) == 0
    edit(course.hand_in("bob"), lambda cells: cells[1].update(cell_type="raw"))
    assert main([]) == 1
    printed = lines(capsys)
    assert printed["bob"].split()[1:] == ["3", "!3"]
    assert printed["bob:"] == "  bob: double: stood in a text cell; graded as code"
    assert "ada:" not in printed


def test_what_a_submission_mentions_is_told_and_needs_no_guess(course, capsys):
    course.hand_in("ada", "import gc\n\n\ndef double(x):\n    return 2 * x")
    assert main([]) == 0
    assert lines(capsys)["ada:"] == "  ada: mentions gc"


def test_a_second_run_grades_what_is_new_and_what_has_changed(course, capsys):
    submitted = course.hand_in("ada")
    assert main([]) == 0
    course.hand_in("bob")
    edit(submitted, lambda cells: cells[1].update(source="def double(x):\n    return x"))
    capsys.readouterr()

    assert main([]) == 0
    printed = lines(capsys)
    assert printed["ada"].split()[1:] == ["1", "1"]
    assert printed["bob"].split()[1:] == ["3", "3"]
    feedback = course.root / "feedback" / "ada" / "small" / "small.html"
    assert "(Score: 1.0 / 3.0)" in feedback.read_text(encoding="utf-8")

    assert main(["--force", "--student", "ada"]) == 0
    printed = lines(capsys)
    assert printed["ada"].split()[1:] == ["1", "1"]
    assert "bob" not in printed


def test_what_is_left_for_a_human_is_what_the_exit_status_says(course, capsys):
    course.hand_in("ada")
    (course.root / "submitted" / "bob").mkdir()
    assert main([]) == 1
    assert "That is exit status 1, which make calls an error." in capsys.readouterr().out


def test_ctrl_c_ends_it_without_a_traceback(course, capsys, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("classroom.grade._grade", interrupted)
    course.hand_in("ada")
    assert main([]) == 130
    assert capsys.readouterr().err.startswith("\nStopped. What has a grade keeps it")


def test_an_old_grade_does_not_stand_for_a_new_submission_that_cannot_be_read(course, capsys):
    path = course.hand_in("ada")
    assert main([]) == 0
    path.write_text(json.dumps({"cells": "none"}))
    assert main(["--force"]) == 1
    assert "No grade\n  ada: small.ipynb is no notebook" in capsys.readouterr().out
    with Gradebook(course.directory.db_url) as book:
        submission = book.find_submission("small", "ada")
        assert submission.needs_manual_grade
        assert submission.score == 0


def test_nothing_handed_in_says_where_to_put_it(course, capsys):
    assert main([]) == 2
    assert "submitted/<student>/<assignment>/" in capsys.readouterr().err


def test_an_unknown_student_is_said(course, capsys):
    course.hand_in("ada")
    assert main(["--student", "adda"]) == 1
    assert "nothing was handed in by a student called adda" in capsys.readouterr().out


def test_a_course_without_such_assignments_is_said(course, capsys):
    course.hand_in("ada")
    course.source().unlink()
    assert main([]) == 2
    assert "no assignment in" in capsys.readouterr().err


class TestNothingCanBeGraded:
    """The reason lies in no submission."""

    def why(self, course, capsys):
        """What is said of it; that nothing is printed or recorded."""
        course.hand_in("ada")
        assert main([]) == 2
        printed = capsys.readouterr()
        assert printed.out == ""
        assert not (course.root / "autograded" / "ada" / "small").exists()
        return printed.err

    def test_a_sandbox_that_cannot_start(self, course, capsys, monkeypatch):
        bwrap = course.root / "bin" / "bwrap"
        bwrap.parent.mkdir()
        bwrap.write_text("#!/bin/sh\necho 'bwrap: no user namespaces' >&2\nexit 1\n")
        bwrap.chmod(0o755)
        monkeypatch.setenv("PATH", f"{bwrap.parent}{os.pathsep}{os.environ['PATH']}")
        said = self.why(course, capsys)
        assert "bwrap cannot start one: bwrap: no user namespaces" in said
        assert "docker run --security-opt" in said
        assert not (course.root / "gradebook.db").exists()

    def test_a_locked_gradebook(self, course, capsys):
        url = f"sqlite:///{course.root / 'gradebook.db'}?timeout=0.01"
        (course.root / "nbgrader_config.py").write_text(
            f"{CONFIG}c.CourseDirectory.db_url = '{url}'"
        )
        with closing(sqlite3.connect(course.root / "gradebook.db")) as lock:
            lock.execute("begin exclusive")
            said = self.why(course, capsys)
        assert "database is locked" in said
        assert "close what else has it open" in said

    def test_a_gradebook_that_is_none(self, course, capsys):
        (course.root / "gradebook.db").write_text("anything else, and of some length")
        assert "file is not a database" in self.why(course, capsys)

    def test_an_assignment_that_is_none(self, course, capsys):
        edit(course.source(), lambda cells: cells.append(copy(cells[3])))
        assert "In source/: ValidationError: Notebook failed to validate" in self.why(
            course, capsys
        )

    @pytest.mark.parametrize("registered", [False, True])
    def test_a_full_disk(self, course, capsys, monkeypatch, registered):
        if registered:
            register(course.directory, "small", course.config)

        def write(self, *_, **__):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr(FilesWriter, "write", write)
        course.hand_in("bob")
        said = self.why(course, capsys)
        assert said.count("No space left on device") == 1
        assert ".nbgrader.log" in said

    @pytest.mark.parametrize(
        ("config", "words"),
        [
            ("configure(", "nbgrader_config.py cannot be read: SyntaxError"),
            (f"{CONFIG}c.Grading.workers = 'two'", "'workers' trait"),
            (f"{CONFIG}c.NbGrader.logfile = 2", "'logfile' trait"),
            ("", "No sandbox is set up"),
        ],
    )
    def test_settings_that_cannot_be_used(self, course, capsys, config, words):
        (course.root / "nbgrader_config.py").write_text(config)
        assert words in self.why(course, capsys)


def test_errors_are_kept_by_student():
    log = logging.Logger("nbgrader")
    log.addHandler(given_up := GivenUp())
    log.error("No notebooks were matched by '%s'", "elsewhere")
    died = RuntimeError("Kernel died")
    try:
        raise died
    except RuntimeError:
        log.error("There was an error processing assignment: %s", "/course/submitted/ada/small")
        log.error("a traceback")
    assert given_up.errors == {"ada": died}
