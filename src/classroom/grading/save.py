"""Saving a notebook's points."""

from nbgrader.api import Gradebook
from nbgrader.preprocessors import SaveAutoGrades


class SaveAllOrNothing(SaveAutoGrades):
    """Saves the points of a notebook in one transaction.

    nbgrader commits after every cell; cut off between two, it leaves a notebook half graded.
    """

    def preprocess(self, nb, resources):
        names = resources["nbgrader"]
        self.notebook_id = names["notebook"]
        self.assignment_id = names["assignment"]
        self.student_id = names["student"]
        with Gradebook(names["db_url"]) as self.gradebook:
            session = self.gradebook.db
            commit, session.commit = session.commit, session.flush
            for index, cell in enumerate(nb.cells):
                self.preprocess_cell(cell, resources, index)
            commit()
        return nb, resources
