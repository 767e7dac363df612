"""nbgrader's two conversions of a notebook, without what it does in vain."""

import json
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import nbformat
from nbconvert.exporters import NotebookExporter
from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode

from classroom import gradebook
from classroom.course import submission_of, uses_attention_lab
from classroom.grading.grading import Grading
from classroom.neighbours import as_nbgrader_does


class Sanitised(NamedTuple):
    """What nbgrader's sanitising passes made of what was handed in; `text` is what it writes."""

    handed_in: str
    notebook: NotebookNode
    text: str


class GradingExporter(NotebookExporter):
    """nbgrader's exporter for autograding. It is made once a command, so the run hangs on it.

    nbgrader converts each notebook twice: it sanitises what was handed in, then autogrades what it
    has written. The first is mostly done ahead, for a worker to run the notebook meanwhile.

    grading: None where no assignment of the command is built on `attention_lab`.
    """

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self._sanitised = {}  # ahead of their turn, by path
        self._written = None
        self.grading = Grading(self) if self._concerned() else None

    def read(self, path: Path) -> str:
        """A submitted notebook, as JSON of nbformat 4."""
        return path.read_text(encoding="utf-8")

    def sanitise(self, path: Path, resources: dict) -> Sanitised:
        """Run the sanitising passes on a submitted notebook, unless they were run on the same."""
        handed_in, known = self.read(path), self._sanitised.get(path)
        if known is None or known.handed_in != handed_in:
            resources = self._resources(path, resources)
            nb = nbformat.from_dict(json.loads(handed_in))
            nb = self._run_passes(self._sanitising, nb, resources)
            known = self._sanitised[path] = Sanitised(handed_in, nb, _text(nb))
        return known

    def from_filename(self, filename: str, resources: dict | None = None, **kw) -> tuple[str, dict]:
        """Convert as nbconvert does, which validates and copies a notebook time and again."""
        if not self.is_ours(resources["nbgrader"]["assignment"]):
            return as_nbgrader_does(self, self._passes()).from_filename(filename, resources, **kw)
        path = Path(filename)
        resources = self._resources(path, resources)
        if self._is_submitted(path):
            self._written = self.sanitise(path, resources)
            del self._sanitised[path]
            return self._written.text, resources
        try:
            nb = self._run_passes(self._autograding, self._read_written(path), resources)
        finally:
            gradebook.close_connections()
        return _text(nb), resources

    def register_preprocessor(self, preprocessor, enabled: bool = False):
        """Nothing: nbgrader registers all passes for each notebook, where ours need them once."""

    def is_ours(self, assignment: str) -> bool:
        return uses_attention_lab(self.parent.coursedir, assignment)

    def _passes(self):
        """Those of the conversion that nbgrader is at."""
        if self.parent._sanitizing:
            return self.parent.sanitize_preprocessors
        return self.parent.autograde_preprocessors

    @cached_property
    def _sanitising(self):
        return [kind(parent=self) for kind in self.parent.sanitize_preprocessors]

    @cached_property
    def _autograding(self):
        return [kind(parent=self) for kind in self.parent.autograde_preprocessors]

    def _run_passes(self, passes, nb, resources):
        for preprocessor in passes:
            nb, _ = preprocessor(nb, resources)
        return nb

    def _read_written(self, path):
        """The notebook that the first conversion wrote: the same, unless somebody changed it."""
        text = path.read_text(encoding="utf-8")
        written, self._written = self._written, None
        if written is not None and text == written.text:
            return written.notebook
        return nbformat.reads(text, as_version=4)

    def _resources(self, path, resources):
        metadata = ResourcesDict(name=path.stem, path=str(path.parent))
        return self._init_resources(resources | {"metadata": metadata})

    def _is_submitted(self, path):
        try:
            return bool(submission_of(self.parent.coursedir, path))
        except ValueError:
            return False

    def _concerned(self):
        course = self.parent.coursedir
        return any(self.is_ours(submission_of(course, f)[0]) for f in self.parent.assignments)


def _text(nb):
    """What is written of a notebook. UTF-8 has no halves of surrogate pairs: they become "?"."""
    text = json.dumps(nb, sort_keys=True, ensure_ascii=False) + "\n"
    return text.encode(errors="replace").decode()
