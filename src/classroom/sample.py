"""The sample class: files of answers put together into submissions.

A file of answers is Python in percent format. A cell named after a solution cell of the lesson
holds what the student wrote there; a cell that is not named is left as it was released::

    import torch

    # %% split_heads
    def split_heads(x, num_heads):
        return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)

    # %% merge_heads

Here `merge_heads` was emptied. What stands above the first cell is for the reader.
"""

import re
import shutil
from collections.abc import Mapping
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbgrader.utils import is_solution

CELL = re.compile(r"^# %%[ \t]*(.*?)[ \t]*$", re.MULTILINE)


def read_answers(text: str) -> dict[str, str]:
    """The cells of a file of answers, by name.

    Raises:
        ValueError: a cell has no name, or the name of another.
    """
    _, *parts = CELL.split(text)
    answers = {}
    for name, source in zip(parts[::2], parts[1::2], strict=True):
        if not name:
            raise ValueError("a cell has no name: write `# %% split_heads`")
        if name in answers:
            raise ValueError(f"two cells are named {name}: keep one")
        answers[name] = source.strip("\n")
    return answers


def hand_in(released: NotebookNode, answers: Mapping[str, str]) -> NotebookNode:
    """A copy of the released notebook with the answers in its solution cells.

    Raises:
        ValueError: an answer is named after no solution cell.
    """
    notebook = nbformat.from_dict(released)
    cells = {c.metadata.nbgrader.grade_id: c for c in notebook.cells if is_solution(c)}
    if unknown := answers.keys() - cells.keys():
        names = ", ".join(sorted(unknown))
        raise ValueError(f"no solution cell is named {names}: choose from {', '.join(cells)}")
    for name, source in answers.items():
        cells[name].source = source
    return notebook


def make_class(answers: Path, repository: Path, course: Path) -> None:
    """Make a course of its own in `course`, with a submission for each file of `answers`.

    `repository` gives the assignments, in `source/` and `release/`, and nbgrader_config.py. What
    was in `course` before is removed, the gradebook included.

    Raises:
        FileNotFoundError: there is no file of answers.
        ValueError: a file of answers does not fit the lesson; the message names it.
    """
    files = sorted(answers.glob("*.py"))
    if not files:
        raise FileNotFoundError(f"no files of answers in {answers}")
    shutil.rmtree(course, ignore_errors=True)
    shutil.copytree(repository / "source", course / "source")
    shutil.copy(repository / "nbgrader_config.py", course)
    for file in files:
        try:
            _submit(read_answers(file.read_text(encoding="utf-8")), repository, course, file.stem)
        except ValueError as error:
            raise ValueError(f"{file}: {error}") from error


def _submit(answers: Mapping[str, str], repository: Path, course: Path, student: str) -> None:
    for released in sorted((repository / "release").glob("*/*.ipynb")):
        folder = course / "submitted" / student / released.parent.name
        folder.mkdir(parents=True)
        nbformat.write(
            hand_in(nbformat.read(released, as_version=4), answers), folder / released.name
        )
