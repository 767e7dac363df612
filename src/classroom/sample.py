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
from itertools import cycle, islice
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


def make_class(answers: Path, repository: Path, course: Path, count: int | None = None) -> None:
    """Make a course of its own in `course`, with a submission for each file of `answers`, named
    after it; or with `count` submissions, for which the files take turns.

    `repository` gives the assignments, in `source/` and `release/`, and nbgrader_config.py. What
    was in `course` before is removed, the gradebook included.

    Raises:
        FileNotFoundError: there is no file of answers.
        ValueError: a file of answers does not fit the lesson; the message names it.
    """
    files = sorted(answers.glob("*.py"))
    if not files:
        raise FileNotFoundError(f"no files of answers in {answers}")
    work = {file.stem: _answered(file, repository / "release") for file in files}
    shutil.rmtree(course, ignore_errors=True)
    shutil.copytree(repository / "source", course / "source")
    shutil.copy(repository / "nbgrader_config.py", course)
    students = work
    if count is not None:
        turns = islice(cycle(work.values()), count)
        students = {f"student-{number:06}": texts for number, texts in enumerate(turns, start=1)}
    for student, texts in students.items():
        for place, text in texts.items():
            path = course / "submitted" / student / place
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")


def _answered(file: Path, release: Path) -> dict[Path, str]:
    """The text of each notebook with the answers of `file`, by its place below `release`."""
    try:
        answers = read_answers(file.read_text(encoding="utf-8"))
        return {
            path.relative_to(release): nbformat.writes(
                hand_in(nbformat.read(path, as_version=4), answers)
            )
            for path in sorted(release.glob("*/*.ipynb"))
        }
    except ValueError as error:
        raise ValueError(f"{file}: {error}") from error
