"""What an edition must not carry, and what a lesson must say: each finding is one sentence."""

import ast
import re
from collections import Counter
from collections.abc import Iterator

from nbformat import NotebookNode
from nbgrader.utils import is_grade, is_solution

from classroom.editions.regions import HIDDEN_TESTS, SOLUTION, has_marker, regions
from classroom.stub import STUB

LONGEST_LINE = 88

_ID = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
_PICTURE = re.compile(r"!\[(?P<markdown>[^\]]*)\]\(|<img\b(?P<html>[^>]*)>")
_ALT = re.compile(r"""\balt=(["'])\s*[^\s"']""")


def lint_edition(notebook: NotebookNode) -> Iterator[str]:
    """What holds for every edition: no traces of a run, stable ids, pictures with alt text."""
    if (kernel := notebook.metadata.kernelspec.name) != "python3":
        yield f"the kernel is {kernel!r}; it must be 'python3'"
    if "widgets" in notebook.metadata:
        yield "the notebook carries widget state; clear it"
    for cell_id, count in Counter(cell.id for cell in notebook.cells).items():
        if count > 1:
            yield f"cell {cell_id!r}: {count} cells have this id"
    for cell in notebook.cells:
        for finding in (*_traces(cell), *_identity(cell), *_pictures(cell)):
            yield f"cell {cell.id!r}: {finding}"


def lint_source(notebook: NotebookNode) -> Iterator[str]:
    """What holds for the instructor version: whole exercises, graded cells with points."""
    steps = set()
    for cell in notebook.cells:
        if is_solution(cell):
            steps.add(cell.id)
            findings = _exercise(cell)
        elif is_grade(cell):
            findings = _graded(cell, steps)
        else:
            findings = _ungraded(cell)
        for finding in (*findings, *_long_lines(cell)):
            yield f"cell {cell.id!r}: {finding}"


def lint_release(notebook: NotebookNode, source: NotebookNode) -> Iterator[str]:
    """What holds for the student version: the source's cells, and none of its secrets."""
    if [cell.id for cell in notebook.cells] != [cell.id for cell in source.cells]:
        yield "the cell ids are not those of the source, in its order"
    secrets = list(_secrets(source))
    for cell in notebook.cells:
        if has_marker(cell.source):
            yield f"cell {cell.id!r}: a marker of a solution or of hidden tests is left"
        if is_solution(cell) and STUB not in cell.source:
            yield f"cell {cell.id!r}: the exercise has no `{STUB}`"
        for kind, owner, lines in secrets:
            if lines in _bare_lines(cell.source):
                yield f"cell {cell.id!r}: shows the {kind} of {owner!r}"


def _traces(cell: NotebookNode) -> Iterator[str]:
    if cell.get("outputs"):
        yield "carries outputs; clear them"
    if cell.get("execution_count") is not None:
        yield "carries an execution count; clear it"


def _identity(cell: NotebookNode) -> Iterator[str]:
    if not _ID.fullmatch(cell.id):
        yield "an id is a letter, then up to 63 letters, digits, - or _"
    grade_id = cell.metadata.get("nbgrader", {}).get("grade_id", cell.id)
    if grade_id != cell.id:
        yield f"the grade_id {grade_id!r} is not the cell's id"


def _pictures(cell: NotebookNode) -> Iterator[str]:
    if cell.cell_type != "markdown":
        return
    for picture in _PICTURE.finditer(cell.source):
        markdown = picture["markdown"]
        if not (_ALT.search(picture["html"]) if markdown is None else markdown.strip()):
            yield "a picture has no alt text; say what it shows"


def _exercise(cell: NotebookNode) -> Iterator[str]:
    yield from _bad_markers(cell)
    if not _has_region(cell, SOLUTION):
        yield "a solution cell marks its solution with ### BEGIN SOLUTION and ### END SOLUTION"
    if cell.id not in _defined_names(cell.source):
        yield f"a solution cell defines the name of its grade_id; this one defines no {cell.id}"


def _graded(cell: NotebookNode, steps: set[str]) -> Iterator[str]:
    yield from _bad_markers(cell)
    points = cell.metadata.nbgrader.get("points")
    if not isinstance(points, int | float) or points <= 0:
        yield "a graded cell says what it is worth: points=1 or more"
    if not any(re.match(rf"test_{step}(_|$)", cell.id) for step in steps):
        yield "a graded cell's grade_id is test_<step>..., after the solution cell <step>"
    if _has_region(cell, SOLUTION):
        yield "a solution stands in a graded cell"


def _ungraded(cell: NotebookNode) -> Iterator[str]:
    if has_marker(cell.source):
        yield "solutions and hidden tests belong in cells with a grade_id"


def _bad_markers(cell: NotebookNode) -> Iterator[str]:
    try:
        regions(cell.source, SOLUTION)
        regions(cell.source, HIDDEN_TESTS)
    except ValueError as error:
        yield str(error)


def _has_region(cell: NotebookNode, kind: str) -> bool:
    return f"### BEGIN {kind}" in cell.source


def _defined_names(source: str) -> set[str]:
    """The names that the top level of the source defines; none if it is no Python."""
    try:
        statements = ast.parse(source).body
    except SyntaxError:
        return set()
    definitions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    assigned = [
        target for node in statements if isinstance(node, ast.Assign) for target in node.targets
    ]
    return {node.name for node in statements if isinstance(node, definitions)} | {
        target.id for target in assigned if isinstance(target, ast.Name)
    }


def _long_lines(cell: NotebookNode) -> Iterator[str]:
    if cell.cell_type != "code":
        return
    for number, line in enumerate(cell.source.splitlines(), start=1):
        if len(line) > LONGEST_LINE:
            yield f"line {number} has {len(line)} characters; {LONGEST_LINE} fit on a screen"


def _secrets(source: NotebookNode) -> Iterator[tuple[str, str, str]]:
    """Every solution and every hidden test: what it is, whose, and its lines."""
    for cell in source.cells:
        for kind, name in ((SOLUTION, "solution"), (HIDDEN_TESTS, "hidden tests")):
            for region in filter(str.strip, regions(cell.source, kind)):
                yield name, cell.id, _bare_lines(region)


def _bare_lines(source: str) -> str:
    """The lines without indentation and blank ones, each closed, so that whole lines compare."""
    lines = (line.strip() for line in source.splitlines())
    return "".join(f"\n{line}\n" for line in lines if line)
