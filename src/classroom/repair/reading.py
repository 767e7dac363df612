"""Reads what was handed in as a notebook of nbformat 4.5, however it was saved.

Outputs, and metadata that nothing here needs, are left out: they only take room and can be broken.
"""

import json
import os
import re
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_notebook

from attention_lab.handin.cells import text_of

KINDS = ("code", "markdown", "raw")
KEPT = ("id", "nbgrader")  # of a cell's metadata
VALID_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
WRONG_FORMATS = {
    b"PK\x03\x04": "a zip archive",
    b"%PDF": "a PDF",
    b"<!": "a web page",
    b"<html": "a web page",
}


class Unreadable(ValueError):
    """A file that is no notebook; the message says why, and what to do."""


def read(path: Path) -> tuple[NotebookNode, bool]:
    """The notebook in a file, and whether its encoding had to be guessed.

    Raises:
        Unreadable: the file is none that can be read; the message begins with its name.
    """
    try:
        if not _is_own(path):
            raise Unreadable("is a link, not a file: ask for the file itself")
        if not path.is_file():  # reading a pipe would never end
            raise Unreadable("is not a file")
        text, guessed = _decode(path.read_bytes())
        return normalised(_parse(text)), guessed
    except (Unreadable, OSError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise Unreadable(f"{path.name} {reason}") from None


def normalised(content: dict) -> NotebookNode:
    """A notebook of nbformat 4.5 from JSON of any version.

    Raises:
        Unreadable: the JSON is that of no notebook.
    """
    if not isinstance(content, dict):
        raise Unreadable("is no notebook, though it is JSON")
    if "worksheets" in content:
        content = _upgraded(content)
    if not isinstance(content.get("cells"), list):
        raise Unreadable("is no notebook, though it is JSON: it has no cells")
    cells = [_cell(index, cell) for index, cell in enumerate(content["cells"])]
    notebook = new_notebook()
    notebook.cells = [cell for cell in cells if cell is not None]
    make_ids_unique(notebook.cells)
    return notebook


def make_ids_unique(cells: list[NotebookNode]) -> None:
    """Give a new id to every cell whose id another cell has before it."""
    seen = set()
    for index, cell in enumerate(cells):
        while cell.id in seen:
            cell.id = f"{cell.id[:50]}-{index}"
        seen.add(cell.id)


def _is_own(path):
    """Whether a path leads nowhere outside its own folder."""
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(path.parent))


def _decode(content):
    for beginning, what in WRONG_FORMATS.items():
        if content.lstrip().lower().startswith(beginning.lower()):
            raise Unreadable(f"is {what}, not a notebook: ask for the .ipynb file")
    try:
        return content.decode(json.detect_encoding(content)), False
    except UnicodeDecodeError:
        return content.decode("cp1252", errors="replace"), True


def _parse(text):
    if not text.strip():
        raise Unreadable("is empty: ask for it again")
    try:
        return json.loads(text)
    except RecursionError:
        raise Unreadable("is nested too deeply for a notebook: ask for it again") from None
    except ValueError as error:
        raise Unreadable(_what_is_wrong(text, error)) from None


def _what_is_wrong(text, error):
    if "\n<<<<<<< " in text:
        return "holds the marks of a merge conflict (<<<<<<<): ask which version counts"
    if getattr(error, "pos", 0) >= len(text.rstrip()) - 1 or "Unterminated" in str(error):
        return "ends in the middle, as if cut off: ask for it again"
    return f"is damaged (no JSON: {error}): ask for it again"


def _upgraded(content):
    """From nbformat 3 or older, where cells stand in worksheets."""
    try:
        return nbformat.convert(nbformat.from_dict(content), 4)
    except Exception as error:  # the converter expects what nbformat 3 promised
        raise Unreadable(f"is a damaged notebook of nbformat 3: {error!r}") from None


def _cell(index, cell):
    if not isinstance(cell, dict) or not isinstance(cell.get("cell_type"), str):
        return None
    kind = cell["cell_type"] if cell["cell_type"] in KINDS else "raw"
    name, metadata = cell.get("id"), cell.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    valid = isinstance(name, str) and VALID_ID.fullmatch(name)
    # Not nbformat's new_code_cell: it validates every cell, in milliseconds each.
    return NotebookNode(
        cell_type=kind,
        id=name if valid else f"unnamed-{index}",
        metadata=nbformat.from_dict({name: metadata[name] for name in KEPT if name in metadata}),
        source=_printable(text_of(cell)),
        **({"outputs": [], "execution_count": None} if kind == "code" else {}),
    )


def _printable(text):
    """Text that can be written: line ends as in Python, no halves of surrogate pairs."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text.encode("utf-8", errors="replace").decode("utf-8")
