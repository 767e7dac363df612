"""What the course's own notebook holds: its cells, and the lesson that learners were given."""

from copy import deepcopy
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbgrader.preprocessors import ClearHiddenTests, ClearSolutions

from attention_lab.handin.lesson import Lesson, lesson_of


@dataclass(frozen=True)
class Released:
    """lesson: as released. cells: those of its slots, by name, with the hidden tests."""

    lesson: Lesson
    cells: dict[str, NotebookNode]


def read_released(source: Path) -> Released:
    """Read the notebook of an assignment from `source/`.

    Raises:
        FileNotFoundError: there is no such notebook.
    """
    return _read(source, source.stat().st_mtime_ns)


@lru_cache(maxsize=16)
def _read(source, _modified):
    notebook = nbformat.read(source, as_version=4)
    released = deepcopy(notebook)
    for clear in (ClearSolutions(), ClearHiddenTests()):
        released, _ = clear.preprocess(released, {})
    lesson = lesson_of(released, source.stem)
    names = {slot.name for slot in lesson.slots}
    return Released(lesson, {cell.id: cell for cell in notebook.cells if cell.id in names})
