"""`make` sets everything up by itself, or says in one line what is missing."""

import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# A Python whose venv module is there or, as on Debian without python3-venv, half there.
PYTHON = """\
#!/bin/sh
case "$*" in
  -c*) exit 0;;
  *venv*) mkdir -p .venv/bin && cp "{inside}" .venv/bin/python; exit {status};;
esac
"""
# As in a shell: this test may itself be run by make.
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
INSIDE = """\
#!/bin/sh
echo "$*" >> log
case "$*" in
  *pip\\ --version*) exit {pip};;
  *pip\\ show*) exit {torch};;
esac
"""


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "a folder with spaces"
    folder.mkdir()
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, folder)
    return folder


@pytest.fixture
def make(folder):
    def make(target="lab", *, status=0, pip=0, torch=1):
        for name, text in {
            "inside": INSIDE.format(pip=pip, torch=torch),
            "python": PYTHON.format(inside=folder / "inside", status=status),
        }.items():
            (folder / name).write_text(text)
            (folder / name).chmod(stat.S_IRWXU)
        command = ["make", f".venv/.{target}", "PYTHON=./python"]
        return run(command, folder)

    return make


def run(command, folder):
    return subprocess.run(command, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True)


def installed(folder):
    lines = (folder / "log").read_text().splitlines()
    return next(line for line in lines if "--editable" in line)


def test_a_missing_venv_module_is_named_and_later_found(folder, make):
    without = make(status=1, pip=1)
    assert without.returncode != 0
    assert without.stdout.splitlines() == [
        "Please install python3-venv first, for example: sudo apt-get install python3-venv"
    ]
    assert make().returncode == 0
    assert "--editable .[lab]" in installed(folder)


def test_settings_for_pip_lead_nowhere_else(folder, make):
    assert make().returncode == 0
    assert "--no-user" in installed(folder)


@pytest.mark.parametrize(
    ("target", "torch", "expected"),
    [("lab", 1, "torch<="), ("lab", 0, None), ("ta", 0, None), ("test", 0, "torch==")],
    ids=["none-newer", "kept", "kept-by-a-TA", "just-that-for-tests"],
)
def test_which_torch_is_asked_for(folder, make, target, torch, expected):
    assert make(target, torch=torch).returncode == 0
    lines = (folder / ".venv" / "constraints.txt").read_text().splitlines()
    [found] = [line for line in lines if line.startswith("torch")] or [None]
    assert found is expected or found.startswith(expected)
    operator = "==" if target == "test" else "<="
    assert all(operator in line for line in lines if not line.startswith("#"))
    assert "--constraint .venv/constraints.txt" in installed(folder)


def test_an_old_python_is_refused(folder):
    refused = run(["make", ".venv/.lab", "PYTHON=false"], folder)
    assert "Python 3.11 or newer is needed" in refused.stdout
    assert not (folder / ".venv").exists()
