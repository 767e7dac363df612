"""What a course's other assignments meet, beside what they meet without us."""

import base64
import json
import logging

import nbformat
import pytest
from nbconvert.exporters import HTMLExporter
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output
from nbgrader.converters import Autograde, GenerateAssignment, GenerateFeedback
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import NbGraderPreprocessor
from nbgrader.server_extensions.formgrader.formgrader import FormgradeExtension
from traitlets.config import Config

from classroom.begin import AUTOGRADE, SANITIZE
from classroom.grading.exporter import GradingExporter
from classroom.neighbours import as_nbgrader_does

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")
PNG = base64.b64encode(b"\x89PNG").decode()


class Added(NbGraderPreprocessor):
    """A pass of the course's own."""


@pytest.mark.parametrize(
    ("ours", "name"),
    [(SANITIZE, "sanitize_preprocessors"), (AUTOGRADE, "autograde_preprocessors")],
)
def test_passes_are_nbgraders_own(course, monkeypatch, ours, name):
    monkeypatch.setattr(GradingExporter, "_concerned", lambda self: False)
    directory = CourseDirectory(root=str(course.root))
    converter = Autograde(coursedir=directory, config=course.config)
    exporter = GradingExporter(parent=converter, config=converter.config)
    theirs = as_nbgrader_does(exporter, [Added, *ours])._preprocessors
    assert [type(one) for one in theirs if not _is_ours(one)] == [
        Added,
        *getattr(Autograde(coursedir=directory), name),
    ]
    assert [type(one).__name__ for one in theirs if _is_ours(one)] == (
        ["DropMadeUpNotes"] if ours is SANITIZE else []
    )


def _is_ours(preprocessor):
    return type(preprocessor).__module__.startswith("classroom.")


@pytest.fixture
def other(course):
    """The other assignment, with what pages of ours would not show, or would look at."""
    path = course.source("other")
    nb = nbformat.read(path, as_version=4)
    nb.cells[:0] = [
        new_markdown_cell("$d^2$ ![beside](beside.png) <b onclick='x()'>b</b> attention_lab"),
        new_code_cell("import sys; print('careful', file=sys.stderr); 0.5"),
    ]
    nb.cells[-1].source += "\n### BEGIN HIDDEN TESTS\nassert double(4) == 8\n### END HIDDEN TESTS"
    nb.cells[-2].source += "\n0.25"  # partial credit
    nb.cells[
        3
    ].source = "def double(x):\n    ### BEGIN SOLUTION\n    return 2 * x\n    ### END SOLUTION"
    path.with_name("beside.png").write_bytes(base64.b64decode(PNG))
    nbformat.write(nb, path)
    return course


def run(course, config):
    """All that nbgrader writes of the other assignment: file names and contents."""
    for converter in (GenerateAssignment, Autograde, GenerateFeedback):
        directory = CourseDirectory(config=config, root=str(course.root))
        directory.assignment_id = "other"
        if converter is Autograde:
            hand_in(course)
        converter(coursedir=directory, config=config).start()
    written = {}
    for step in ("release", "autograded", "feedback"):
        for path in sorted((course.root / step).rglob("*.*")):
            written[str(path.relative_to(course.root))] = _comparable(path)
    return written


def hand_in(course):
    nb = nbformat.read(course.root / "release" / "other" / "other.ipynb", as_version=4)
    nb.cells[3].source = "def double(x):\n    return x + x if x < 4 else 0"
    path = course.root / "submitted" / "ada" / "other" / "other.ipynb"
    path.parent.mkdir(parents=True)
    nbformat.write(nb, path)


def _comparable(path):
    """A file's content, without the times at which cells ran."""
    if path.suffix != ".ipynb":
        return path.read_bytes()
    nb = json.loads(path.read_text(encoding="utf-8"))
    for cell in nb["cells"]:
        cell["metadata"].pop("execution", None)
    return nb


def test_every_file_is_what_nbgrader_makes_of_it(other, tmp_path, own_engines):
    ours = run(other, other.config)
    assert b"NotImplementedError" in json.dumps(ours["release/other/other.ipynb"]).encode()
    assert b"beside.png" in ours["feedback/ada/other/other.html"]
    for name in ("release", "submitted", "autograded", "feedback", "gradebook.db"):
        (other.root / name).rename(other.root / f"{name}-of-ours")
    plain = Config()
    plain.CourseDirectory.root = str(other.root)
    theirs = run(other, plain)
    assert list(ours) == list(theirs)
    for name, content in theirs.items():
        assert ours[name] == content, name


def test_the_formgraders_page_is_nbgraders(course):
    nb = nbformat.read(course.source("other"), as_version=4)
    text = "$d^2$ ![beside](beside.png) <b onclick='x()'>b</b>"
    live = {"text/html": "<script>plot()</script>", "text/markdown": text}
    nb.cells += [
        new_markdown_cell(text),
        new_code_cell("1", outputs=[new_output("display_data", live)]),
    ]
    pages = []
    for settings in (Config(), course.config):
        config = FormgradeExtension().build_extra_config()
        config.merge(settings)
        resources = {"submission_id": "1", "base_url": "", "index": 0, "total": 1}
        pages.append(HTMLExporter(config=config).from_notebook_node(nb, resources)[0])
    assert pages[0].split() == pages[1].split()
    assert "plot()" in pages[1]


def test_no_command_says_more_than_without_us(other, caplog):
    with caplog.at_level(logging.WARNING):
        run(other, other.config)
    assert [record for record in caplog.records if record.name.startswith("classroom")] == []
