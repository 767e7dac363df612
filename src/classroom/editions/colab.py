"""The self-learner's edition, for Google Colab: one notebook that brings its own package."""

import json
import re
from collections.abc import Iterator
from itertools import pairwise

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell
from nbgrader.utils import is_grade, is_solution

from attention_lab.edition import fingerprint_of
from classroom.editions.badge import badge
from classroom.editions.lesson import LessonError
from classroom.editions.notebook import new_notebook
from classroom.editions.package import PACKAGE
from classroom.editions.regions import without_markers

# The heading's own id; Colab keeps the sections below these headings folded.
SET_UP = "set-up"
_SETUP_TAG = "setup"  # on the lesson's own cell of imports
_CLASS = "class"  # on the lesson's cells that only a class has a use for
_SOLUTIONS = "solutions.json"  # where `attention_lab.progress` looks for them
# What no other cell reaches: how a notebook is looked at before it is handed in, or graded.
_FOR_A_CLASS = {
    "check/lint.py",
    *(f"handin/{name}.py" for name in ("cells", "code", "inspect", "ready", "saved")),
}

_UPLOAD = (
    "To open this notebook in Google Colab, download it, go to Colab and choose "
    "**File → Upload notebook**."
)
_HEADING = f"""## Set-up

{{opening}} Nothing has to be installed. Run the folded cells of this section once, and again \
whenever the runtime was replaced: in Colab with the ▶ beside the section; in Jupyter, click on \
the first cell after it and choose **Run → Run All Above Selected Cell**. They write the course's \
own code, `{PACKAGE}`, beside the notebook, for whoever is curious to read.

A check that passes shows a solution to compare yours with. It also lies behind the last hint of \
each exercise, and folded below it."""

# Readable text, many files a cell: each below a line that names it.
_FILE = "═══ "
_BEGIN = f"""#@title 1 · Start with an empty folder
import re
import shutil
from pathlib import Path

from IPython.core.magic import register_cell_magic

shutil.rmtree("{PACKAGE}", ignore_errors=True)


@register_cell_magic
def course_files(line, cell):
    \"\"\"Write the files of this cell into {PACKAGE}, each below a line with its path.\"\"\"
    _, *parts = re.split(r"^{_FILE}(.+)\\n", cell, flags=re.MULTILINE)
    for name, text in zip(parts[::2], parts[1::2]):
        path = Path("{PACKAGE}", name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.rstrip("\\n") + "\\n", encoding="utf-8", newline="\\n")"""
_WRITE = "%%course_files"
# What the cells that write the files are about: the first folder of a path, by the cell's title.
_PARTS = {
    "The checks": {"check", "observation"},
    "The pictures": {"heatmap"},
    "The example, questions, progress and models": None,  # whatever is left
}

_END = f"""#@title {{number}} · Ready?
import importlib
import sys

# Begin without modules that were imported from an older copy.
for module in list(sys.modules):
    if module.split(".")[0] == "{PACKAGE}":
        del sys.modules[module]
importlib.invalidate_caches()

try:
    from {PACKAGE} import edition
except ImportError:
    raise ImportError(
        "{PACKAGE} is incomplete: run all cells of the Set-up section, from its first."
    ) from None

edition.expect("{{fingerprint}}")
print("{PACKAGE} is ready. Re-run any cells you ran before this set-up.")"""

_EXPECT = f"""from {PACKAGE} import edition

edition.expect("{{fingerprint}}")  # the code that this notebook's Set-up writes

from {PACKAGE} import progress"""

_SOLUTION = """<details>
<summary>A solution of <code>{step}</code></summary>

It appears below the checks when they pass. If they do not, the hints above the exercise open one
by one, and this solution lies behind the last.

<details>
<summary>Show me anyway</summary>

```python
{solution}
```

</details></details>"""

_COMPARE = 'progress.solution("{step}")  # for comparison, once the checks above have passed'

_HINTS_END = "</details></details></details>"
_BEHIND_THE_HINTS = """<details><summary>The solution</summary>

```python
{solution}
```

</details></details></details></details>"""


def make_colab(
    source: NotebookNode,
    release: NotebookNode,
    *,
    package: dict[str, bytes],
    name: str,
    github: str,
) -> NotebookNode:
    """The Colab edition.

    Args:
        source: the instructor version, where solutions and hidden tests come from.
        release: the student version, where the stubs come from.
        package: the package's files, see `package.package_files`.
        name: the notebook's name, without a suffix.
        github: ``OWNER/REPO/REF`` where the notebook is published, or ``""``: then it has no badge.

    Raises:
        LessonError: a file of the package that a cell cannot write byte for byte.
    """
    package = {name: text for name, text in package.items() if name not in _FOR_A_CLASS}
    package[_SOLUTIONS] = _solutions(source)
    fingerprint = fingerprint_of(package)
    cells = _lesson(source, release, fingerprint)
    at = _where_set_up_belongs(cells)
    opening = badge(name, github) if github else _UPLOAD
    cells[at:at] = _set_up(package, fingerprint, opening)
    for cell in cells:
        cell.metadata["id"] = cell.id
    return new_notebook(cells, colab={"collapsed_sections": [SET_UP]})


def _solutions(source: NotebookNode) -> bytes:
    """The file of all solutions, by the names of their exercises."""
    texts = {cell.id: without_markers(cell.source) for cell in source.cells if is_solution(cell)}
    return f"{json.dumps(texts, indent=1, ensure_ascii=False)}\n".encode()


def _where_set_up_belongs(cells: list[NotebookNode]) -> int:
    """The place of the last heading above the lesson's imports, so that a fold ends there."""
    imports = next(
        at for at, cell in enumerate(cells) if _SETUP_TAG in cell.metadata.get("tags", [])
    )
    headings = [at for at, cell in enumerate(cells[:imports]) if cell.source.startswith("## ")]
    return headings[-1] if headings else imports


def _set_up(package: dict[str, bytes], fingerprint: str, opening: str) -> list[NotebookNode]:
    folded = {"jp-MarkdownHeadingCollapsed": True}
    heading = new_markdown_cell(_HEADING.format(opening=opening), id=SET_UP, metadata=folded)
    parts = list(_parts(package))
    end = _END.format(number=len(parts) + 2, fingerprint=fingerprint)
    return [
        heading,
        _folded(_BEGIN, f"{SET_UP}-begin"),
        *(
            _folded(_write(f"{number} · {title}", files), f"{SET_UP}-files-{number}")
            for number, (title, files) in enumerate(parts, start=2)
        ),
        _folded(end, f"{SET_UP}-end"),
    ]


def _parts(package: dict[str, bytes]) -> Iterator[tuple[str, dict[str, bytes]]]:
    """The files of the package by the title of the cell that writes them."""
    left = dict(sorted(package.items()))
    for title, folders in _PARTS.items():
        of_it = [name for name in left if folders is None or name.split("/")[0] in folders]
        if of_it:
            yield title, {name: left.pop(name) for name in of_it}


def _write(title: str, files: dict[str, bytes]) -> str:
    texts = [f"{_FILE}{name}\n{_body(name, content)}" for name, content in files.items()]
    return "\n".join([_WRITE, f"#@title {title}", *texts])


def _body(name: str, content: bytes) -> str:
    """The text of a file without the line end that ends it."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        text = ""
    if not re.fullmatch(r"[^\r]*[^\r\n]\n", text) or f"\n{_FILE}" in f"\n{text}":
        problem = (
            "a cell can only write text in UTF-8 that ends with exactly one line end, and has no "
            f"line that begins with {_FILE}"
        )
        raise LessonError(f"{PACKAGE}/{name}", [problem])
    return text[:-1]


def _folded(source: str, cell_id: str) -> NotebookNode:
    """A code cell whose text is hidden, in Colab and in Jupyter, until asked for."""
    metadata = {"cellView": "form", "jupyter": {"source_hidden": True}}
    return new_code_cell(source, id=cell_id, metadata=metadata)


def _lesson(source: NotebookNode, release: NotebookNode, fingerprint: str) -> list[NotebookNode]:
    stubs = {cell.id: cell.source for cell in release.cells}
    checked_by = _last_checks(source)
    behind_hints = _solutions_by_hints(source)
    cells = []
    for cell in source.cells:
        if _CLASS in cell.metadata.get("tags", []):
            continue
        text = stubs[cell.id] if is_solution(cell) else cell.source
        if cell.id in behind_hints:
            text = _with_solution(text, behind_hints[cell.id])
        if _SETUP_TAG in cell.metadata.get("tags", []):
            text = f"{text}\n\n{_EXPECT.format(fingerprint=fingerprint)}"
        if cell.id in checked_by:
            text = f"{text}\n{_COMPARE.format(step=checked_by[cell.id].id)}"
        cells.append(_plain(cell, text))
        if cell.id in checked_by:
            cells.append(_solution(checked_by[cell.id]))
    return cells


def _solutions_by_hints(source: NotebookNode) -> dict[str, NotebookNode]:
    """Each solution cell, by the id of the cell before it if that ends with hints."""
    return {
        before.id: cell
        for before, cell in pairwise(source.cells)
        if is_solution(cell) and before.source.endswith(_HINTS_END)
    }


def _with_solution(hints: str, cell: NotebookNode) -> str:
    """The hints, with the solution as one more behind the last."""
    solution = _BEHIND_THE_HINTS.format(solution=without_markers(cell.source))
    return hints.removesuffix(_HINTS_END) + solution


def _last_checks(source: NotebookNode) -> dict[str, NotebookNode]:
    """Each solution cell, by the id of its last check: the last graded cell before the next
    exercise, or for an exercise that is worth no points the code cell below it."""
    last, exercise = {}, None
    for cell in source.cells:
        if is_solution(cell):
            exercise = cell.id
        elif is_grade(cell) or (cell.cell_type == "code" and exercise not in last):
            last[exercise] = cell.id
    last.pop(None, None)  # the code above the first exercise
    by_id = {cell.id: cell for cell in source.cells}
    return {check: by_id[solution] for solution, check in last.items()}


def _plain(cell: NotebookNode, source: str) -> NotebookNode:
    new_cell = new_markdown_cell if cell.cell_type == "markdown" else new_code_cell
    kept = {name: cell.metadata[name] for name in ("tags", "jupyter") if name in cell.metadata}
    if "jupyter" in kept:
        kept["cellView"] = "form"
    return new_cell(without_markers(source), id=cell.id, metadata=kept)


def _solution(cell: NotebookNode) -> NotebookNode:
    text = _SOLUTION.format(step=cell.id, solution=without_markers(cell.source))
    return new_markdown_cell(text, id=f"solution-{cell.id}")
