"""What a folder that was handed in may hold to stop, slow or blind whoever reads it.

Each is planted into a folder with a right notebook in it. `graded`: whether that one has a grade
all the same.
"""

import contextlib
import json
import os
import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

NAME = "small.ipynb"


@dataclass(frozen=True)
class Horror:
    name: str
    plant: Callable[[Path], None]
    graded: bool


HORRORS: list[Horror] = []


def horror(*, graded: bool):
    def add(plant):
        HORRORS.append(Horror(plant.__name__, plant, graded))
        return plant

    return add


def change(folder: Path, edit: Callable[[dict], object]) -> None:
    """Edit the notebook's JSON."""
    notebook = json.loads((folder / NAME).read_text(encoding="utf-8"))
    edit(notebook)
    (folder / NAME).write_text(json.dumps(notebook), encoding="utf-8")


def add(folder: Path, source, kind: str = "code", **more) -> None:
    """Add a cell of the student's own."""
    cell = {"cell_type": kind, "id": "added", "metadata": {}, "source": source, **more}
    if kind == "code":
        cell |= {"outputs": [], "execution_count": None}
    change(folder, lambda notebook: notebook["cells"].append(cell))


# --- what is read ---


@horror(graded=False)
def nested_json(folder):
    (folder / NAME).write_text('{"cells": ' + "[" * 100_000)


@horror(graded=True)
def nested_metadata(folder):
    def edit(notebook):
        deep = {}
        for _ in range(600):
            deep = {"a": deep}
        notebook["metadata"] = notebook["cells"][1]["metadata"]["nbgrader"]["deep"] = deep

    change(folder, edit)


@horror(graded=False)
def millions_of_objects(folder):
    (folder / NAME).write_text('{"cells": [' + "{}," * (10 << 20) + "{}]}")


@horror(graded=False)
def thousands_of_cells(folder):
    cell = {"cell_type": "code", "metadata": {}, "source": "x = 1"}
    change(folder, lambda notebook: notebook["cells"].extend([cell] * 3000))


@horror(graded=False)
def integers_without_end(folder):
    change(folder, lambda notebook: notebook.update(nbformat=0))
    text = (folder / NAME).read_text()
    (folder / NAME).write_text(text.replace('"nbformat": 0', '"nbformat": ' + "9" * 5000))


@horror(graded=True)
def wrong_types_everywhere(folder):
    def edit(notebook):
        notebook["metadata"] = ["kernelspec"]
        notebook["cells"] += [
            1, None, [], {}, {"cell_type": []}, {"cell_type": "code", "source": {"a": 1}},
            {"cell_type": "code", "source": [1, None], "metadata": 3, "outputs": "none", "id": {}},
            {"cell_type": "markdown", "source": 7, "attachments": [1], "metadata": {"id": []}},
            {"cell_type": "raw", "source": "x", "attachments": {"a": {"image/png": {}}}},
        ]  # fmt: skip

    change(folder, edit)


@horror(graded=True)
def halves_of_letters_and_nothing(folder):
    add(folder, "'\ud800\0'", "markdown")
    add(folder, "# \ud800\0")


@horror(graded=True)
def keys_that_stand_twice(folder):
    text = (folder / NAME).read_text()
    (folder / NAME).write_text(text.replace("{", '{"cells": [], "metadata": NaN, ', 1))


@horror(graded=True)
def branches_by_the_thousand(folder):
    add(folder, "# double\nif 0: pass\n" + "elif 0: pass\n" * 2000)


@horror(graded=True)
def magics_by_the_hundred(folder):
    add(folder, "# double\n" + "%x\n" * 501)


@horror(graded=True)
def an_import_without_end(folder):
    add(folder, "import double" + ".b" * 20_000)


# --- what lies there ---


@horror(graded=False)
def a_pipe_for_a_notebook(folder):
    (folder / NAME).unlink()
    os.mkfifo(folder / NAME)


@horror(graded=True)
def pipes_and_sockets_beside(folder):
    os.mkfifo(folder / "pipe")
    os.mkfifo(folder / "timestamp.txt")
    (folder / "[1]").mkdir()
    os.mkfifo(folder / "[1]" / "pipe")
    with contextlib.chdir(folder), socket.socket(socket.AF_UNIX) as server:
        server.bind("here")


@horror(graded=False)
def a_link_to_zeros(folder):
    (folder / NAME).unlink()
    (folder / NAME).symlink_to("/dev/zero")


@horror(graded=True)
def links_in_circles(folder):
    (folder / "here").symlink_to(".")
    (folder / "there").symlink_to("there")
    (folder / "zeros").symlink_to("/dev/zero")


@horror(graded=True)
def folders_without_end(folder):
    with contextlib.chdir(folder):
        for _ in range(200):
            os.mkdir("d")
            os.chdir("d")


@horror(graded=True)
def a_name_that_is_not_utf_8(folder):
    (folder / NAME).rename(folder / os.fsdecode(b"caf\xe9\x1b[31m.ipynb"))
    (folder / os.fsdecode(b"\xff\n.csv")).write_text("1")


@horror(graded=True)
def names_as_long_as_can_be(folder):
    (folder / NAME).rename(folder / ("n" * 249 + ".ipynb"))
    (folder / ("x" * 255)).write_text("1")


# --- what is cleaned and rendered ---


@horror(graded=True)
def html_that_multiplies(folder):
    html = "'<p>' + ''.join(f'<b id=a{i}>' for i in range(4000)) + '<p>x' * 4000"
    add(folder, f"from IPython.display import HTML, display\ndisplay(HTML({html}))")


@horror(graded=True)
def patterns_that_go_back(folder):
    add(folder, "\\" * 16_000, "raw")
    add(folder, f"from IPython.display import HTML, display\ndisplay(HTML({chr(92) * 16_000!r}))")
    add(
        folder,
        "from IPython.display import display\n"
        "display({'image/png': ' ' * 100_000 + '!', 'text/plain': 'x'}, raw=True)",
    )


@horror(graded=True)
def blank_lines_that_are_highlighted(folder):
    add(folder, "x = 1\n" + " \n" * 8000 + "#")


@horror(graded=True)
def environments_that_never_end(folder):
    add(folder, "\\begin{a}" * 10_000, "markdown")


@horror(graded=True)
def brackets_in_markdown(folder):
    add(folder, "[" * 20_000 + "\n\n" + "> " * 3000 + "\n\n" + "*a_" * 10_000, "markdown")


@horror(graded=True)
def a_picture_that_is_not_there(folder):
    add(folder, "![x](attachment:a%20b.png) ![y](attachment:c.png)", "markdown", attachments={})
