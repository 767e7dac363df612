"""Has `nbgrader generate_assignment` refuse before it removes a release.

With `--force` nbgrader removes the release first, then finds that cells were added or removed and
that there are submissions, and gives up.
"""

from pathlib import Path

from nbconvert.exporters import NotebookExporter
from nbformat import NotebookNode
from nbgrader.api import Gradebook
from nbgrader.converters.base import NbGraderException
from nbgrader.utils import is_grade, is_locked, is_solution, is_task

from classroom.course import read_source, source_folder, source_notebooks, uses_attention_lab
from classroom.points import Names
from classroom.register import is_registered
from classroom.regrade.definition import Definition, read_definition
from classroom.regrade.marks import CellName


class GuardedExporter(NotebookExporter):
    """nbgrader's exporter for `generate_assignment`. It is made before nbgrader touches anything.

    Raises NbGraderException if an assignment built on `attention_lab` has submissions and other
    cells than in the gradebook.
    """

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        converter = self.parent
        assignment = converter.coursedir.assignment_id
        if converter.no_database or not uses_attention_lab(converter.coursedir, assignment):
            return
        if changed := self._changed_cells(assignment):
            message = (
                f"{assignment} has submissions, and these cells are not the same in source/ and in "
                f"the gradebook: {', '.join(changed)}. Nothing is changed. To have the gradebook "
                f"follow source/, run: python -m classroom.regrade {assignment}"
            )
            self.log.error(message)
            raise NbGraderException(message)

    def _changed_cells(self, assignment: str) -> list[str]:
        course = self.parent.coursedir
        with Gradebook(course.db_url, course.course_id) as gradebook:
            if not is_registered(gradebook, assignment):
                return []
            if not gradebook.assignment_submissions(assignment):
                return []
            known = _names(read_definition(gradebook, assignment))
        folder = source_folder(course, assignment)
        here = {
            (Path(name).stem, cell.metadata.nbgrader.grade_id)
            for name in source_notebooks(course, assignment)
            for cell in read_source(folder / name).cells
            if _is_known(cell)
        }
        name = Names.of(known | here)
        return sorted(name(*cell) for cell in known ^ here)


def _names(definition: Definition) -> set[CellName]:
    return {(notebook, name) for notebook, cells in definition.items() for name in cells}


def _is_known(cell: NotebookNode) -> bool:
    """Whether nbgrader enters a cell into the gradebook."""
    return is_grade(cell) or is_solution(cell) or is_locked(cell) or is_task(cell)
