"""The page that a student gets back: nbgrader's, with the steps named in its list of results.

In `templates/`: `returned` is this page, `formgrade` the formgrader's on top of nbgrader's of that
name, `classic` what both share.
"""

import re
from pathlib import Path

import nbgrader
from nbconvert.exporters import HTMLExporter
from nbformat import NotebookNode
from nbgrader.utils import is_grade
from traitlets import List

from classroom.course import uses_attention_lab
from classroom.neighbours import as_nbgrader_does
from classroom.preprocessors import CoursePreprocessor

TEMPLATES = Path(__file__).parent / "templates"
NBGRADERS = Path(nbgrader.__file__).parent / "server_extensions" / "formgrader" / "templates"
ENTRY = re.compile(r'(<a href="#test_(\w+)_(shape|value)">)Test cell(</a>)')
COMMENT = re.compile(r'(<a href="#comment-(\w+)">)Comment(</a>)')
UNANSWERED = "No response."


class FeedbackExporter(HTMLExporter):
    """Renders with the template `returned`, which needs no network; other assignments as ever."""

    def from_filename(self, filename: str, resources: dict | None = None, **kw) -> tuple[str, dict]:
        converter = self.parent
        if not uses_attention_lab(converter.coursedir, resources["nbgrader"]["assignment"]):
            theirs = as_nbgrader_does(self, converter.preprocessors)
            return theirs.from_filename(filename, resources, **kw)
        return super().from_filename(filename, resources, **kw)

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
