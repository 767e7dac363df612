"""How much the set-up brings, and how much of it a learner waits for."""

import subprocess
import sys
from pathlib import Path

from attention_lab.edition import package_files

PACKAGE = Path(__file__).parents[2] / "src" / "attention_lab"
MOST_KB = 800
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


def test_the_set_up_is_small_and_what_is_not_reached_is_not_loaded(edition, note):
    written = [cell.source for cell in edition.cells if cell.id.startswith("set-up-files-")]
    files = sum(source.count("\n═══ ") for source in written)
    assert files == len(package_files(PACKAGE)) + 1  # the solutions
    size = sum(len(source.encode()) for source in written)
    done = subprocess.run(
        [sys.executable, "-c", LOADED], capture_output=True, text=True, check=True
    )
    loaded = [Path(name) for name in done.stdout.split()]
    assert not [path for path in loaded for name in LATER if name in (*path.parts, path.stem)]
    note("Colab's set-up", "cells", len(written))
    note("Colab's set-up", "kB", size // 1000)
    note("Colab's set-up", "first", sum(path.stat().st_size for path in loaded) // 1000)
    assert size < MOST_KB * 1000
