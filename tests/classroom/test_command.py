import subprocess
import sys

import pytest

from classroom import command


@pytest.fixture
def ran(monkeypatch):
    """The programs that a command runs, in place of running them."""
    programs = []

    def run(arguments):
        programs.append(list(map(str, arguments)))
        return subprocess.CompletedProcess(arguments, 0)

    monkeypatch.setattr(subprocess, "run", run)
    return programs


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A course with two lessons, which is the working folder."""
    for name in ("a", "b"):
        lesson = tmp_path / "release" / name / f"lesson_{name}.ipynb"
        lesson.parent.mkdir(parents=True)
        lesson.write_text(name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("arguments", [[], ["lab"]])
def test_the_lab_opens_ones_own_copy(here, ran, arguments):
    assert command.main(arguments) == 0
    assert ran == [
        [
            sys.executable,
            "-m",
            "jupyterlab",
            str(here.joinpath("work", "lesson_a.ipynb").relative_to(here)),
        ]
    ]
    assert {copy.name: copy.read_text() for copy in (here / "work").iterdir()} == {
        "lesson_a.ipynb": "a",
        "lesson_b.ipynb": "b",
    }


def test_an_own_copy_is_never_overwritten(here, ran):
    (here / "work").mkdir()
    (here / "work" / "lesson_a.ipynb").write_text("my answers")
    command.main(["lab", "--no-browser"])
    assert (here / "work" / "lesson_a.ipynb").read_text() == "my answers"
    assert ran[0][-1] == "--no-browser"


def test_it_says_where_it_belongs(tmp_path, monkeypatch, ran, capsys):
    monkeypatch.chdir(tmp_path)
    assert command.main(["lab"]) == 2
    assert "Change into the folder of the course" in capsys.readouterr().err
    assert not ran
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("arguments", "status"), [(["--help"], 0), (["learn"], 2)])
def test_it_says_what_there_is(arguments, status, capsys):
    assert command.main(arguments) == status
    said = "".join(capsys.readouterr())
    assert all(f"\n  {name} " in said for name in ("lab", *command.COMMANDS))


def test_options_are_passed_on(monkeypatch):
    from classroom import grade

    monkeypatch.setattr(grade, "main", lambda arguments: arguments)
    assert command.main(["grade", "mha", "--force"]) == ["mha", "--force"]


def test_who_has_only_the_learners_part_is_told_what_to_install(monkeypatch, capsys):
    def missing(name):
        raise ModuleNotFoundError(name="nbgrader")

    monkeypatch.setattr(command, "import_module", missing)
    assert command.main(["grade"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("nbgrader is not installed.")
    assert 'pip install --editable ".[ta]"' in said
