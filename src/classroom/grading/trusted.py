"""What the course itself says a notebook holds: never the submitted copy's word."""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from nbformat import NotebookNode
from nbgrader.api import Gradebook
from nbgrader.coursedir import CourseDirectory
from nbgrader.utils import is_grade, is_solution

from classroom.course import PACKAGE, read_source, source_folder
from classroom.files import Found, files_in
from classroom.grading.job import Cell, File, Job

MAX_FILES = 500
MAX_BYTES = 32 << 20
LEFT_BY_SYSTEMS = ("._*", ".DS_Store", "Thumbs.db", "__MACOSX")


class Untrusted(Exception):
    """A notebook's graded cell is none of the course's."""


@dataclass(frozen=True)
class Course:
    """What of one notebook is the course's own.

    graded: the text of each graded cell, by its grade id, as the gradebook has it. setup: the cells
    tagged "setup", in order. solved: the code cells of the source, in order, without the graded
    ones. released: of these, the ones that are not the learner's to write.
    """

    graded: dict[str, str]
    setup: tuple[str, ...]
    solved: tuple[str, ...]
    released: tuple[str, ...]


def read_course(course: CourseDirectory, assignment: str, notebook: str) -> Course:
    """Read what the course says about a notebook, from its gradebook and its source folder."""
    with Gradebook(course.db_url, course.course_id) as gradebook:
        cells = gradebook.find_notebook(notebook, assignment).source_cells
        graded = {cell.name: cell.source for cell in cells if cell.locked}
    path = source_folder(course, assignment) / f"{notebook}.ipynb"
    cells = [c for c in read_source(path).cells if c.cell_type == "code"]
    setup = tuple(cell.source for cell in cells if "setup" in cell.metadata.get("tags", []))
    solved = [cell for cell in cells if not judges(cell)]
    released = tuple(cell.source for cell in solved if not is_solution(cell))
    return Course(graded, setup, tuple(cell.source for cell in solved), released)


def make_job(nb: NotebookNode, course: Course, files: tuple[File, ...], *, many: bool) -> Job:
    """The job of a sanitised notebook; `many`: one of those of a class. Raises Untrusted if a cell
    claims to be what it is not."""
    cells = [
        Cell(index, _source(cell, course), judges(cell), cell.source in course.solved)
        for index, cell in enumerate(nb.cells)
        if cell.cell_type == "code" and cell.source.strip()
    ]
    ahead = (course.released, course.solved) if many else ()
    return Job(tuple(cells), course.setup, files, *ahead)


def judges(cell: NotebookNode) -> bool:
    """Whether a cell's points come from running it, and not from a human's reading it."""
    return cell.cell_type == "code" and is_grade(cell) and not is_solution(cell)


def _source(cell, course):
    if not judges(cell):
        return cell.source
    try:
        return course.graded[cell.metadata.nbgrader.grade_id]
    except KeyError:
        raise Untrusted(
            f"the notebook has a graded cell {cell.metadata.nbgrader.get('grade_id')!r} that the "
            "gradebook does not know: remove the cell, or its nbgrader metadata; "
            "if source/ has it, run python -m classroom.regrade"
        ) from None


def files_beside(
    submitted: Path, source: Path, ignore: list[str], keep: Collection[str] = ()
) -> tuple[File, ...]:
    """The files beside a notebook, notebooks left out: the course's own, then the submitted ones
    that the course has not, or that are to be kept.

    Files are left out in the order of their names as soon as there are too many or too much.
    """
    ignore = [*LEFT_BY_SYSTEMS, *ignore]
    own, theirs = (_by_name(files_in(folder, ignore), folder) for folder in (source, submitted))
    found = {name: path for name, path in own.items() if name not in keep or name not in theirs}
    files, room = [], MAX_BYTES
    for name, path in [*found.items(), *((n, p) for n, p in theirs.items() if n not in found)]:
        room -= path.stat().st_size
        if room >= 0 and len(files) < MAX_FILES:
            files.append(File(name, path.read_bytes()))
    return tuple(files)


def _by_name(found: Found, folder: Path) -> dict[str, Path]:
    names = {path: path.relative_to(folder) for path in found.files}
    return {
        str(name): path
        for path, name in names.items()
        if name.parts[0] != PACKAGE and path.suffix.lower() != ".ipynb"
    }
