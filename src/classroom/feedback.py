"""The page that a student gets back: nbgrader's, with the steps named in its list of results.

In `templates/`: `returned` is this page, `by_hand` the formgrader's, `classic` what both share.
"""

import re
from pathlib import Path

import nbgrader
from nbconvert.exporters import HTMLExporter
from nbformat import NotebookNode
from nbgrader.utils import is_grade
from traitlets import List

from classroom.preprocessors import CoursePreprocessor

TEMPLATES = Path(__file__).parent / "templates"
NBGRADERS = Path(nbgrader.__file__).parent / "server_extensions" / "formgrader" / "templates"
ENTRY = re.compile(r'(<a href="#test_(\w+)_(shape|value)">)Test cell(</a>)')
COMMENT = re.compile(r'(<a href="#comment-(\w+)">)Comment(</a>)')
UNANSWERED = "No response."


class FeedbackExporter(HTMLExporter):
    """Renders with the template `returned`, which needs no network."""

    def default_filters(self):
        yield from super().default_filters()
        yield "name_entries", name_entries


def name_entries(page: str) -> str:
    """Name the entries of nbgrader's list after the step and what was looked at or commented."""
    return COMMENT.sub(r"\1\2: a comment\3", ENTRY.sub(r"\1\2: \3\4", page))


class DropEmptyComments(CoursePreprocessor):
    """Leaves out nbgrader's remark on every cell that nobody wrote into: where there are points,
    the check says so; where there are none, it was a choice."""

    display_data_priority = List(help="nbconvert sets it for every pass.").tag(config=True)

    def preprocess_cell(
        self, cell: NotebookNode, resources: dict, index: int
    ) -> tuple[NotebookNode, dict]:
        own = cell.metadata.get("nbgrader", {})
        if own.get("comment") == UNANSWERED and not is_grade(cell):
            del own["comment"]
        return cell, resources
