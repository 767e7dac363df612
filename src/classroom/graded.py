"""What reports tell of a graded notebook, read in a child: a learner's code stands in it."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

import nbformat
from nbgrader.coursedir import CourseDirectory
from nbgrader.utils import is_solution

from attention_lab.handin.cells import text_of
from classroom import bounded
from classroom.course import autograded_folder
from classroom.grading.record import Record
from classroom.repair import flags
from classroom.repair.apart import Reading


@dataclass(frozen=True)
class Graded:
    """record: of its grading; None if it was graded without this engine. guessed: whether anything
    had to be. answers: the learner's code, by grade id."""

    record: Record | None = None
    guessed: bool = False
    answers: Mapping[str, str] = field(default_factory=dict)

    @property
    def flags(self) -> list[str]:
        return self.record.flags if self.record else []

    @property
    def misconceptions(self) -> dict[str, str]:
        return self.record.misconceptions if self.record else {}


def read_graded(course: CourseDirectory, assignment: str, student: str) -> dict[str, Graded]:
    """A student's graded notebooks, by their names. Where they cannot be read, a flag says why."""
    folder = autograded_folder(course, assignment, student)
    try:
        found = bounded.run(_read, folder, bounds=Reading(config=course.config).bounds)
    except bounded.Failed as error:
        return {"": Graded(Record(True, flags=[f"its graded notebook {error}"]))}
    return {
        name: Graded(record and Record(**record), guessed, answers)
        for name, (record, guessed, answers) in found.items()
    }


def flags_of(course: CourseDirectory, assignment: str, student: str) -> tuple[list[str], bool]:
    """All flags of a student's graded notebooks, and whether anything had to be guessed."""
    notebooks = read_graded(course, assignment, student).values()
    found = [flag for notebook in notebooks for flag in notebook.flags]
    return found, any(notebook.guessed for notebook in notebooks)


def _read(folder: Path) -> dict[str, tuple]:
    return {path.stem: _graded(path) for path in sorted(folder.glob("[!.]*.ipynb"))}


def _graded(path):
    notebook = nbformat.from_dict(json.loads(path.read_text(encoding="utf-8")))
    record = Record.read(notebook)
    answered = filter(is_solution, notebook.cells)
    answers = {cell.metadata.nbgrader.grade_id: text_of(cell) for cell in answered}
    return record and asdict(record), bool(flags.read(notebook).flags), answers
