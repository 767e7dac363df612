"""The instructor version: solutions, hidden tests, and nbgrader's metadata."""

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

from classroom.editions.drawings import inline
from classroom.editions.lesson import Lesson, LessonError
from classroom.editions.notebook import cell_metadata, new_notebook

SETUP = "setup"  # on the lesson's cell of imports: nothing runs without it
GOES_ON = "raises-exception"  # "Run All" goes on below a cell that raises: an unfinished step, say


def make_source(lesson: Lesson) -> NotebookNode:
    """nbgrader's instructor version of the lesson, with its drawings inside.

    Raises:
        LessonError: a drawing that cannot be put in.
    """
    cells, findings = [], []
    for cell in lesson.cells:
        new_cell = new_markdown_cell if cell.cell_type == "markdown" else new_code_cell
        source = cell.source
        if cell.cell_type == "markdown":
            try:
                source = inline(source, lesson.folder)
            except ValueError as error:
                findings.append(f"cell {cell.id!r}: {error}")
        metadata = cell_metadata(cell.metadata)
        if cell.cell_type == "code" and SETUP not in metadata.get("tags", []):
            metadata["tags"] = [*metadata.get("tags", []), GOES_ON]
        cells.append(new_cell(source, id=cell.id, metadata=metadata))
    if findings:
        raise LessonError(lesson.name, findings)
    return new_notebook(cells)
