"""What the set-up brings, how much that is, and how much of it a learner waits for."""

import ast
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from attention_lab.edition import package_files

PACKAGE = Path(__file__).parents[2] / "src" / "attention_lab"
MOST_KB = 720
# Loaded where the lesson comes to them, or where an answer is wrong.
LATER = (
    "catalogue",
    "diagnose",
    "heatmap",
    "learned",
    "pretrained",
    "questions",
)
LOADED = """
import sys
from attention_lab import NotWrittenYet, check, example, progress
from attention_lab.quiz import predict, recall
print(*(m.__file__ for name, m in sys.modules.items() if name.startswith("attention_lab")))
"""


@pytest.fixture
def set_up(edition):
    """The cells that write the files."""
    return [cell.source for cell in edition.cells if cell.id.startswith("set-up-files-")]


@pytest.fixture
def brought(set_up):
    """The files of the package that the set-up writes, by their paths; without the solutions."""
    parts = re.split(r"^(?:═══ (.+)|%%course_files)\n", "\n".join(set_up), flags=re.MULTILINE)
    pairs = zip(parts[1::2], parts[2::2], strict=True)
    files = {name: f"{text.rstrip()}\n".encode() for name, text in pairs if name}
    del files["solutions.json"]
    return files


def imported(source):
    """The modules of this package that a module or a cell imports, at any depth."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module.startswith("attention_lab"):
            yield node.module
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (name for name in names if find_spec_of(name))


def find_spec_of(name):
    try:
        return find_spec(name)
    except ModuleNotFoundError:  # it is not a module's but a function's name
        return None


def test_what_it_brings_is_the_packages_and_nothing_misses_the_rest(edition, brought):
    package = package_files(PACKAGE)
    assert brought.items() <= package.items()
    code = [text for name, text in brought.items() if name.endswith(".py")]
    code += [c.source for c in edition.cells if c.cell_type == "code" and "set-up" not in c.id]
    needed = {Path(find_spec(name).origin) for text in code for name in imported(text)}
    assert needed <= {PACKAGE / name for name in brought}
    assert {name for name in package if not name.endswith(".py")} <= brought.keys()


def test_the_set_up_is_small_and_what_is_not_reached_is_not_loaded(set_up, note):
    size = sum(len(source.encode()) for source in set_up)
    done = subprocess.run(
        [sys.executable, "-c", LOADED], capture_output=True, text=True, check=True
    )
    loaded = [Path(name) for name in done.stdout.split()]
    assert not [path for path in loaded for name in LATER if name in (*path.parts, path.stem)]
    note("Colab's set-up", "cells", len(set_up))
    note("Colab's set-up", "kB", size // 1000)
    note("Colab's set-up", "first", sum(path.stat().st_size for path in loaded) // 1000)
    assert size < MOST_KB * 1000
