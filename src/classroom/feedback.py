"""The page that a student gets back: what lost points and why, all results, then the notebook.

In `templates/`: `returned` is this page, `formgrade` the formgrader's on top of nbgrader's of that
name, `classic` what both share.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import nbgrader
from nbconvert.filters import strip_ansi
from nbformat import NotebookNode
from nbgrader.preprocessors import ClearHiddenTests
from nbgrader.utils import is_grade, is_solution, is_task
from traitlets import List

from classroom.course import uses_attention_lab
from classroom.grading.record import KEY
from classroom.neighbours import as_nbgrader_does
from classroom.preprocessors import CoursePreprocessor
from classroom.rendering import BoundedExporter

TEMPLATES = Path(__file__).parent / "templates"
NBGRADERS = Path(nbgrader.__file__).parent / "server_extensions" / "formgrader" / "templates"
TEST = re.compile(r"test_(\w+)_(shape|value)")
PART = re.compile(r"^ +(Means|Look|Where): +", re.MULTILINE)
UNANSWERED = "No response."


class FeedbackExporter(BoundedExporter):
    """Renders with the template `returned`, which needs no network; other assignments as ever."""

    def default_filters(self):
        yield from super().default_filters()
        yield "results", results
        yield "losses", losses

    def from_filename(self, filename: str, resources: dict | None = None, **kw) -> tuple[str, dict]:
        converter = self.parent
        if not uses_attention_lab(converter.coursedir, resources["nbgrader"]["assignment"]):
            theirs = as_nbgrader_does(self, converter.preprocessors)
            return theirs.from_filename(filename, resources, **kw)
        return super().from_filename(filename, resources, **kw)


@dataclass(frozen=True)
class Result:
    """What a graded cell got. name: the step and what was looked at, or the grade_id.

    message: of the error that it met; pairs of a heading, such as "Means", and a text.
    """

    anchor: str
    name: str
    score: float
    points: float
    message: tuple[tuple[str, str], ...] = ()

    @property
    def lost(self) -> float:
        return self.points - self.score

    @property
    def state(self) -> str:
        """ "full", "part" or "none" of the points."""
        return "full" if self.lost <= 0 else "part" if self.score > 0 else "none"


def results(cells: Iterable[NotebookNode]) -> list[Result]:
    """The results of the graded cells among these, in order."""
    return [_result(cell) for cell in cells if is_grade(cell) or is_task(cell)]


def losses(found: Iterable[Result]) -> list[list[Result]]:
    """Results that lost points; those of a step that say the same stand together."""
    lost = [result for result in found if result.lost > 0]
    alike = groupby(lost, key=lambda result: (result.name.split(":")[0], result.message))
    return [list(group) for _, group in alike]


def _result(cell):
    own = cell.metadata.nbgrader
    name = TEST.sub(r"\1: \2", own.grade_id)
    score, points = float(own.get("score") or 0), float(own.get("points") or 0)
    return Result(own.grade_id, name, score, points, _message(cell))


def _message(cell):
    errors = [output for output in cell.get("outputs", ()) if output.output_type == "error"]
    if not errors:
        return ()
    error = errors[-1]
    said = strip_ansi("\n".join(error.traceback))
    if PART.search(said):  # a check's own words
        seen, *parts = PART.split(said)
        texts = zip(["", *parts[::2]], [seen.lstrip("\N{BALLOT X} "), *parts[1::2]], strict=True)
        return tuple((heading, " ".join(text.split())) for heading, text in texts)
    return (("", f"{error.ename}: {strip_ansi(error.evalue)}".removesuffix(": ")),)


class HideHiddenTests(ClearHiddenTests):
    """Leaves out of a page of ours what stands between the markers of hidden tests, also where an
    error shows it. The autograded notebook and the gradebook keep it.

    Only in graded cells: elsewhere a learner has written the markers.
    """

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        for cell in nb.cells if KEY in nb.metadata else ():
            if is_grade(cell) and not is_solution(cell) and cell.cell_type == "code":
                self._hide_in(cell)
        return nb, resources

    def _hide_in(self, cell):
        shown, hidden = [], []
        kept = shown
        for line in cell.source.split("\n"):
            if self.begin_test_delimeter in line:
                kept = hidden
            elif self.end_test_delimeter in line:
                kept = shown
            else:
                kept.append(line)
        cell.source = "\n".join(shown)
        texts = {line.strip() for line in hidden} - {line.strip() for line in shown} - {""}
        for output in cell.outputs:
            if output.output_type == "error" and _shows(output, texts):
                said = f"{output.ename}: {output.evalue or 'a hidden test fails'}"
                output.traceback = [said]


def _shows(error, texts):
    said = strip_ansi("\n".join(error.traceback))
    return any(text in said for text in texts)


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
