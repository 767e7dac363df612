import copy
import json
import os

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from classroom.repair.reading import Most, Unreadable, normalised, read

NOTEBOOK = new_notebook(cells=[new_code_cell("x = 'é'", id="one")])
TEXT = json.dumps(NOTEBOOK, ensure_ascii=False)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "small.ipynb"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32"])
def test_encodings_that_can_be_told(path, encoding):
    path.write_bytes(TEXT.replace("\n", "\r\n").encode(encoding))
    assert read(path) == (NOTEBOOK, False)


def test_an_encoding_that_cannot_be_told(path):
    path.write_bytes(TEXT.encode("latin-1"))
    assert read(path) == (NOTEBOOK, True)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is empty"),
        (b" \r\n", "is empty"),
        (TEXT[:-20].encode(), "ends in the middle"),
        (TEXT[: TEXT.index("x =") + 1].encode(), "ends in the middle"),
        (b"{\n<<<<<<< HEAD\n}\n=======\n}\n>>>>>>> x", "holds the marks of a merge conflict"),
        (b"{'cells': []}", "is damaged"),
        (b"[1, 2]", "is no notebook, though it is JSON"),
        (b'{"cells": {}}', "is no notebook, though it is JSON: it has no cells"),
        (b'{"worksheets": [], "nbformat": 3}', "is a notebook of nbformat 3 that holds no cells"),
        (b'{"worksheets": {"cells": 1}}', "is a notebook of nbformat 3 that holds no cells"),
        (b"[" * 100_000, "is nested too deeply"),
        (b"PK\x03\x04...", "is a zip archive"),
        (b"%PDF-1.7", "is a PDF"),
        (b"<!DOCTYPE html>", "is a web page"),
    ],
)
def test_what_cannot_be_read_is_said_with_its_name(path, content, reason):
    path.write_bytes(content)
    with pytest.raises(Unreadable, match=rf"^small\.ipynb {reason}"):
        read(path)


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo])
def test_what_is_no_file_is_not_read(path, make):
    make(path)
    with pytest.raises(Unreadable, match=r"^small\.ipynb is not a file"):
        read(path)


def test_a_link_counts_only_within_its_folder(path, tmp_path):
    (tmp_path / "mine").mkdir()
    elsewhere, inside = tmp_path / "small.ipynb", tmp_path / "mine" / "own.ipynb"
    for file in (elsewhere, inside):
        file.write_text(TEXT, encoding="utf-8")
    link = tmp_path / "mine" / "link.ipynb"
    os.symlink("own.ipynb", link)
    assert read(link)[0] == NOTEBOOK
    link.unlink()
    os.symlink("../small.ipynb", link)
    with pytest.raises(Unreadable, match="is a link"):
        read(link)
    link.unlink()
    os.symlink(link, link)
    with pytest.raises(Unreadable):
        read(link)


def test_a_whole_notebook_loses_only_what_grading_does_not_need():
    full = copy.deepcopy(NOTEBOOK)
    full.metadata.widgets = {"application/vnd.jupyter.widget-state+json": {}}
    full.cells[0].outputs = [{"output_type": "hologram"}]
    full.cells[0].metadata = {"collapsed": True, "id": "colab", "nbgrader": {"grade_id": "one"}}
    cell = normalised(full).cells[0]
    assert normalised(full).metadata == {}
    assert cell.outputs == []
    assert cell.metadata == {"id": "colab", "nbgrader": {"grade_id": "one"}}


def test_damaged_cells():
    cells = [
        "text",
        {"cell_type": "code"},
        {"cell_type": "heading", "source": "x", "id": "twice"},
        {"cell_type": "code", "source": ["a\r\n", "b"], "id": "twice", "metadata": []},
        {"cell_type": "code", "source": "'\ud83d'", "id": "no id!"},
    ]
    notebook = normalised({"cells": cells})
    nbformat.validate(notebook)
    assert [(cell.cell_type, cell.source) for cell in notebook.cells] == [
        ("code", ""), ("raw", "x"), ("code", "a\nb"), ("code", "'?'"),
    ]  # fmt: skip
    assert len({cell.id for cell in notebook.cells}) == 4


def test_the_old_format_with_worksheets():
    sheet = [
        {"cell_type": "heading", "level": 2, "source": ["Heads\n", "up"]},
        {"cell_type": "heading", "level": "9", "source": "x"},
        {"cell_type": "html", "source": "<b>x</b>"},
        {"cell_type": "code", "input": ["x = 1\n", "x"], "outputs": [{"output_type": "pyout"}]},
        None,
    ]
    more = [{"cell_type": "code", "input": "y = 2"}, {"cell_type": "code"}]
    old = {"nbformat": 3, "worksheets": [{"cells": sheet}, {"cells": more}, {}, 1]}
    notebook = normalised(old)
    nbformat.validate(notebook)
    assert [(cell.cell_type, cell.source) for cell in notebook.cells] == [
        ("markdown", "## Heads up"), ("markdown", "# x"), ("markdown", "<b>x</b>"),
        ("code", "x = 1\nx"), ("code", "y = 2"), ("code", ""),
    ]  # fmt: skip


def test_pictures_that_were_pasted_are_kept():
    png = {"image/png": "iVBORw0="}
    attachments = {"a.png": png | {"text/html": "<b>"}, "b": {"image/png": 3}, "c": "d", "e": png}
    cells = [
        {"cell_type": kind, "source": "", "attachments": attachments}
        for kind in ("markdown", "raw", "code")
    ]
    cells.append({"cell_type": "markdown", "source": "", "attachments": ["a"]})
    notebook = normalised({"cells": cells})
    nbformat.validate(notebook)
    kept = [cell.get("attachments") for cell in notebook.cells]
    assert kept == [{"a.png": png, "e": png}] * 2 + [None] * 2


def test_more_than_is_read(path):
    path.write_text(TEXT)
    with pytest.raises(Unreadable, match=r"^small\.ipynb is larger than 0 MiB"):
        read(path, Most(size=10))
    with pytest.raises(Unreadable, match=r"has 1 cells, more than 0 \(c\.Reading\.cells\)"):
        read(path, Most(cells=0))


def test_a_name_that_no_terminal_should_see(tmp_path):
    path = tmp_path / os.fsdecode(b"caf\xe9\x1b[31m.ipynb")
    path.touch()
    with pytest.raises(Unreadable, match=r"^caf\ufffd{2}\[31m\.ipynb is empty"):
        read(path)
