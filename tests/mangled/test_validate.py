"""`nbgrader validate` works on the released notebook, in a folder as students have it."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from manglings import NAME

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture
def validate(tmp_path):
    skip = shutil.ignore_patterns("__pycache__")
    package = REPOSITORY / "src" / "attention_lab"
    shutil.copytree(package, tmp_path / "attention_lab", ignore=skip)

    def validate(notebook):
        (tmp_path / NAME).write_text(json.dumps(notebook), encoding="utf-8")
        command = [sys.executable, "-m", "nbgrader", "validate", NAME]
        command += ["--Execute.iopub_timeout=60"]  # its 4 s are too few on a busy machine
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        return subprocess.run(
            command, cwd=tmp_path, env=environment, check=True, capture_output=True, text=True
        ).stdout

    return validate


def test_a_solved_notebook_passes(validate, solved):
    assert validate(solved) == "Success! Your notebook passes all the tests.\n"


def test_the_release_is_told_what_is_not_written_yet(validate, released):
    told = validate(released)
    assert "VALIDATION FAILED ON 18 CELL(S)!" in told
    assert told.count("not written yet.") == 18
