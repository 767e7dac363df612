"""Reads what was handed in as a notebook of nbformat 4.5, however it was saved.

Outputs, and metadata that nothing here needs, are left out: they only take room and can be broken.
Pictures that were pasted into text stay.
"""

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path

from nbformat import NotebookNode
from nbformat.v4 import new_notebook

from attention_lab.handin.cells import text_of
from classroom.files import printable

KINDS = ("code", "markdown", "raw")
PICTURES = ("image/png", "image/jpeg", "image/gif", "image/svg+xml")
VALID_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
WRONG_FORMATS = {
    b"PK\x03\x04": "a zip archive",
    b"%PDF": "a PDF",
    b"<!": "a web page",
    b"<html": "a web page",
}


class Unreadable(ValueError):
    """A file that is no notebook; the message says why, and what to do."""


@dataclass(frozen=True)
class Most:
    """The most that is read of a file. size: in bytes."""

    size: int = 64 << 20
    cells: int = 2000


MOST = Most()


def read(path: Path, most: Most = MOST) -> tuple[NotebookNode, bool]:
    """The notebook in a file, and whether its encoding had to be guessed.

    Raises:
        Unreadable: the file is none that can be read; the message begins with its name.
    """
    try:
        if not _is_own(path):
            raise Unreadable("is a link, not a file: ask for the file itself")
        if not path.is_file():  # reading a pipe would never end
            raise Unreadable("is not a file")
        if path.stat().st_size > most.size:
            raise Unreadable(
                f"is larger than {most.size >> 20} MiB (c.Reading.notebook_mib): ask for it "
                "without its outputs"
            )
        text, guessed = _decode(path.read_bytes())
        return normalised(_parse(text), most), guessed
    except (Unreadable, OSError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise Unreadable(f"{printable(path.name)} {reason}") from None


def normalised(content: dict, most: Most = MOST) -> NotebookNode:
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
    if len(content["cells"]) > most.cells:
        raise Unreadable(
            f"has {len(content['cells']):,} cells, more than {most.cells:,} (c.Reading.cells)"
        )
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
    """The cells of nbformat 3 or older, which stand in worksheets, as nbformat 4 has them."""
    sheets = content["worksheets"] if isinstance(content["worksheets"], list) else []
    cells = [
        _upgraded_cell(cell)
        for sheet in sheets
        if isinstance(sheet, dict) and isinstance(sheet.get("cells"), list)
        for cell in sheet["cells"]
    ]
    if not cells:
        raise Unreadable("is a notebook of nbformat 3 that holds no cells")
    return {"cells": cells}


def _upgraded_cell(cell):
    kind = cell.get("cell_type") if isinstance(cell, dict) else None
    if kind == "code":
        return {**cell, "source": cell.get("input", "")}
    if kind == "heading":
        level = cell.get("level")
        hashes = "#" * (level if level in range(1, 7) else 1)
        text = " ".join(text_of(cell).split())
        return {**cell, "cell_type": "markdown", "source": f"{hashes} {text}"}
    return {**cell, "cell_type": "markdown"} if kind == "html" else cell


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
        metadata=_kept(metadata),
        source=_writable(text_of(cell)),
        **({"outputs": [], "execution_count": None} if kind == "code" else {}),
        **({"attachments": pictures} if (pictures := _pictures(cell)) and kind != "code" else {}),
    )


def _kept(metadata):
    """Of a cell's metadata, Colab's id and nbgrader's own, as far as they are what they should."""
    kept = NotebookNode()
    if "id" in metadata:
        kept.id = str(metadata["id"])[:64]
    if isinstance(metadata.get("nbgrader"), dict):
        own = metadata["nbgrader"].items()
        kept.nbgrader = NotebookNode({name: value for name, value in own if _is_plain(value)})
    return kept


def _is_plain(value):
    return isinstance(value, str | int | float | None)


def _pictures(cell):
    """The pictures that were pasted into a cell, by their names."""
    attachments = cell.get("attachments")
    found = {
        _writable(name): NotebookNode(
            {kind: data for kind in PICTURES if isinstance(data := bundle.get(kind), str)}
        )
        for name, bundle in (attachments.items() if isinstance(attachments, dict) else ())
        if isinstance(bundle, dict)
    }
    return NotebookNode({name: bundle for name, bundle in found.items() if bundle})


def _writable(text):
    """Text that can be written: line ends as in Python, no halves of surrogate pairs."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text.encode("utf-8", errors="replace").decode("utf-8")
