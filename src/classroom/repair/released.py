"""What the course's own notebook holds: its cells, and the lesson that learners were given."""

from copy import deepcopy
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from nbformat import NotebookNode
from nbgrader.preprocessors import ClearHiddenTests

from attention_lab.handin.lesson import Lesson
from classroom.course import read_source
from classroom.skeleton import lesson_of, name_of


@dataclass(frozen=True)
class Released:
    """lesson: its checks as released, its solutions not. cells: the course's own, by slot name.
    given: the text of every code cell that is the course's. folder: where its files lie."""

    lesson: Lesson
    cells: dict[str, NotebookNode]
    given: frozenset[str]
    folder: Path


def read_released(source: Path) -> Released:
    """Read the notebook of an assignment from `source/`.

    Raises:
        FileNotFoundError: there is no such notebook.
        ValueError: the file is not a notebook.
    """
    return _read(source, source.stat().st_mtime_ns)


@lru_cache(maxsize=16)
def _read(source, _modified):
    notebook = read_source(source)
    released, _ = ClearHiddenTests().preprocess(deepcopy(notebook), {})
    cells = {name_of(cell): cell for cell in notebook.cells}
    code = (c for c in (*notebook.cells, *released.cells) if c.cell_type == "code")
    given = frozenset(cell.source for cell in code)
    return Released(lesson_of(released, source.stem), cells, given, source.parent)
