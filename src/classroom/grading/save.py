"""Saving a notebook's points."""

from nbgrader.api import BaseCell, Comment, Grade, Gradebook, MissingEntry
from nbgrader.preprocessors import SaveAutoGrades
from sqlalchemy.orm import Session

from classroom.grading.record import Record


class SaveAllOrNothing(SaveAutoGrades):
    """Saves the points of a notebook in one transaction, and whether a human should look at it.

    nbgrader commits after every cell; cut off between two, it leaves a notebook half graded.
    """

    def preprocess(self, nb, resources):
        names = resources["nbgrader"]
        self.notebook_id = names["notebook"]
        self.assignment_id = names["assignment"]
        self.student_id = names["student"]
        with Gradebook(names["db_url"]) as gradebook:
            submitted = gradebook.find_submission_notebook(
                self.notebook_id, self.assignment_id, self.student_id
            )
            self.gradebook = Entries(gradebook.db, submitted.id)
            for index, cell in enumerate(nb.cells):
                self.preprocess_cell(cell, resources, index)
            record = Record.read(nb)
            submitted.flagged = submitted.flagged or bool(record and record.flags)
            gradebook.db.commit()
        return nb, resources


class Entries:
    """The grades and comments of one submitted notebook, asked for at once; stands for the
    gradebook in `SaveAutoGrades`, and for its session, which that commits after every cell."""

    def __init__(self, session: Session, notebook_id: str):
        self.db = self
        self._grades, self._comments = (
            {
                name: entry
                for entry, name in session.query(kind, BaseCell.name)
                .join(BaseCell, BaseCell.id == kind.cell_id)
                .filter(kind.notebook_id == notebook_id)
            }
            for kind in (Grade, Comment)
        )

    def commit(self) -> None:
        """Wait for the other cells."""

    def find_grade(self, cell: str, notebook: str, assignment: str, student: str) -> Grade:
        return _found(self._grades, cell)

    def find_comment(self, cell: str, notebook: str, assignment: str, student: str) -> Comment:
        return _found(self._comments, cell)


def _found(entries, cell):
    if cell not in entries:
        raise MissingEntry(f"The gradebook has no entry for the cell {cell}")
    return entries[cell]
