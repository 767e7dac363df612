"""nbgrader's passes that ask the same for every submission of a class, made to ask once."""

import json
from typing import ClassVar

from nbformat import NotebookNode
from nbgrader.api import Gradebook, GradeCell, MissingEntry, SourceCell
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import CheckCellMetadata, OverwriteCells, OverwriteKernelspec


class Snapshot:
    """What a gradebook knows of one notebook and its cells; stands for it in `OverwriteCells`.

    kernelspec: the metadata that name its kernel; None or empty if there are none.
    """

    def __init__(self, course: CourseDirectory, assignment: str, notebook: str):
        with Gradebook(course.db_url, course.course_id) as gradebook:
            self._notebook = gradebook.find_notebook(notebook, assignment)
            self._source = {cell.name: cell for cell in self._notebook.source_cells}
            graded = [*self._notebook.grade_cells, *self._notebook.task_cells]
            self._graded = {cell.name: cell for cell in graded if cell.max_score is not None}
            self.kernelspec = json.loads(self._notebook.kernelspec or "null")

    def find_notebook(self, name: str, assignment: str):
        return self._notebook

    def find_source_cell(self, name: str, notebook: str, assignment: str) -> SourceCell:
        return _found(self._source, name)

    def find_graded_cell(self, name: str, notebook: str, assignment: str) -> GradeCell:
        return _found(self._graded, name)


def _found(cells, name):
    if name not in cells:
        raise MissingEntry(f"No such cell: {name}")
    return cells[name]


class OverwriteCellsOnce(OverwriteCells):
    """Reads the course's cells from the `Grading` of the command."""

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        names = resources["nbgrader"]
        self.assignment_id, self.notebook_id = names["assignment"], names["notebook"]
        self.gradebook = self.parent.grading.snapshot(self.assignment_id, self.notebook_id)
        for index, cell in enumerate(nb.cells):
            nb.cells[index], resources = self.preprocess_cell(cell, resources, index)
        if self.add_missing_cells:
            nb, resources = self.add_missing_grade_cells(nb, resources)
            nb, resources = self.add_missing_task_cells(nb, resources)
        return nb, resources


class OverwriteKernelspecOnce(OverwriteKernelspec):
    """Reads the course's kernel from the `Grading` of the command."""

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        names = resources["nbgrader"]
        snapshot = self.parent.grading.snapshot(names["assignment"], names["notebook"])
        if snapshot.kernelspec:
            nb.metadata.kernelspec = snapshot.kernelspec
        return nb, resources


class CheckCellMetadataOnce(CheckCellMetadata):
    """Checks nbgrader's metadata, unless another notebook had the same and passed."""

    passed: ClassVar[set[str]] = set()

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        cells = [cell for cell in nb.cells if "nbgrader" in cell.metadata]
        text = json.dumps([[cell.cell_type, cell.metadata.nbgrader] for cell in cells])
        if text not in self.passed:
            nb, resources = super().preprocess(nb, resources)
            self.passed.add(text)
        return nb, resources
