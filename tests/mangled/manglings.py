"""What students really hand in: one function a mangling of a right submission.

@mangling(26)                     graded with 26 points, and no human has to look
@mangling(26, "two cells")        graded, and flagged in words that hold these
@mangling(None, "is empty")       not graded, for a reason that holds these words
"""

import asyncio
import contextlib
import copy
import json
import os
import socket
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from nbgrader.utils import compute_checksum

NAME = "multi_head_attention.ipynb"
ASSIGNMENT = "mha"


@dataclass
class HandIn:
    """What a student is going to hand in.

    notebook: its JSON; every answer in it is right. released: as it was before. name: of its file;
    None writes no file. encode: from the JSON's text to the file's content.
    """

    notebook: dict
    released: dict
    name: str | None = NAME
    encode: Callable[[str], bytes] = str.encode
    others: dict[str, object] = field(default_factory=dict)

    @property
    def cells(self) -> list[dict]:
        return self.notebook["cells"]

    def at(self, name: str) -> int:
        return next(i for i, cell in enumerate(self.cells) if cell.get("id") == name)

    def __getitem__(self, name: str) -> dict:
        return self.cells[self.at(name)]

    def pop(self, name: str) -> dict:
        return self.cells.pop(self.at(name))

    def text(self, name: str) -> str:
        return "".join(self[name]["source"])

    def stub(self, name: str) -> str:
        return next("".join(c["source"]) for c in self.released["cells"] if c["id"] == name)

    def insert(self, after: str, *sources: str, kind: str = "code") -> None:
        """New cells, as a learner makes them."""
        at = self.at(after) + 1
        self.cells[at:at] = [new(source, f"new-{at}-{i}", kind) for i, source in enumerate(sources)]

    def write(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        if self.name is not None:
            (folder / self.name).write_bytes(self.encode(json.dumps(self.notebook, indent=1)))
        for name, content in self.others.items():
            text = content if isinstance(content, str) else json.dumps(content, indent=1)
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")


@dataclass(frozen=True)
class Mangling:
    name: str
    mangle: Callable[[HandIn], None]
    points: float | None
    says: str | None

    def hand_in(self, released: dict, solved: dict, submitted: Path) -> None:
        hand_in = HandIn(copy.deepcopy(solved), released)
        after = self.mangle(hand_in)
        folder = submitted / self.name / ASSIGNMENT
        hand_in.write(folder)
        if after is not None:
            after(folder)


MANGLINGS: list[Mangling] = []


def mangling(points: float | None, says: str | None = None):
    def add(mangle):
        MANGLINGS.append(Mangling(mangle.__name__, mangle, points, says))
        return mangle

    return add


def new(source: str, name: str, kind: str = "code") -> dict:
    cell = {"cell_type": kind, "id": name, "metadata": {}, "source": source}
    return cell | {"outputs": [], "execution_count": None} if kind == "code" else cell


SOLUTIONS = (
    "project",
    "split_heads",
    "attention_scores",
    "causal_mask",
    "masked_softmax",
    "attend",
    "merge_heads",
    "MultiHeadAttention",
    "fault",
    "MendedAttention",
)
WRONG_SPLIT = (
    "def split_heads(x, num_heads):\n    B, T, _ = x.shape\n    return x.view(B, num_heads, T, -1)"
)


# --- what frontends do ---


@mangling(26)
def nothing(h):
    pass


@mangling(26)
def cell_ids_dropped(h):
    for cell in h.cells:
        del cell["id"]
    h.notebook["nbformat_minor"] = 4


@mangling(26)
def colab(h):
    """Colab keeps ids in the metadata, and widget state without its `state` key."""
    for cell in h.cells:
        cell["metadata"]["id"] = cell.pop("id")
        if cell["cell_type"] == "code":
            cell["metadata"]["outputId"] = "a3c1e5d2-0000-4000-8000-000000000000"
            cell["metadata"]["colab"] = {"base_uri": "https://localhost:8080/"}
    widgets = {"0a1b": {"model_module": "@jupyter-widgets/base", "model_name": "LayoutModel"}}
    h.notebook["metadata"] = {
        "colab": {"provenance": [], "toc_visible": True},
        "kernelspec": {"name": "python3", "display_name": "Python 3"},
        "language_info": {"name": "python"},
        "widgets": {"application/vnd.jupyter.widget-state+json": widgets},
        "accelerator": "GPU",
    }
    h.notebook["nbformat_minor"] = 0


@mangling(26)
def vscode(h):
    """VS Code keeps ids, adds `vscode` metadata and the kernel's full description."""
    for cell in h.cells:
        if cell["cell_type"] == "code":
            cell["metadata"]["vscode"] = {"languageId": "python"}
            cell["execution_count"] = 1
    h.notebook["metadata"]["kernelspec"] = {
        "display_name": ".venv (3.12.3)",
        "language": "python",
        "name": "python3",
    }
    h.notebook["nbformat_minor"] = 2


@mangling(26)
def jupyter_server(h):
    """Opened and saved as JupyterLab 4 and Notebook 7 do, by the manager that both use."""
    for cell in h.cells:
        if cell["cell_type"] == "code":  # what JupyterLab adds when it records times
            cell["metadata"]["execution"] = {"iopub.execute_input": "2026-11-29T12:00:00.000000Z"}
            cell["metadata"]["scrolled"] = True
            cell["execution_count"] = 7
    return lambda folder: asyncio.run(_open_and_save(folder))


async def _open_and_save(folder):
    from jupyter_server.serverapp import ServerApp

    manager = ServerApp.contents_manager_class.default_value(root_dir=str(folder))
    model = await manager.get(NAME, type="notebook", content=True)
    assert model["format"] == "json"
    await manager.save({"type": "notebook", "content": model["content"]}, NAME)


@mangling(26)
def nbformat_rewrite(h):
    def rewrite(folder):
        nbformat.write(nbformat.read(folder / NAME, as_version=4), folder / NAME)

    return rewrite


@mangling(26)
def conda_kernel(h):
    h.notebook["metadata"]["kernelspec"] = {
        "display_name": "Python [conda env:dl]",
        "language": "python",
        "name": "conda-env-dl-py",
    }


@mangling(26)
def no_kernel(h):
    h.notebook["metadata"] = {}


@mangling(26)
def all_metadata_dropped(h):
    for cell in h.cells:
        cell["metadata"] = {}


@mangling(26, "MendedAttention: graded what another cell defines")
def all_metadata_dropped_and_new_ids(h):
    for i, cell in enumerate(h.cells):
        cell.update(metadata={}, id=f"c{i:07x}")


@mangling(26)
def one_test_without_metadata(h):
    h["test_attend_value"]["metadata"] = {}


@mangling(26)
def one_solution_without_metadata(h):
    h["merge_heads"]["metadata"] = {}


@mangling(26, "merge_heads: graded what another cell defines")
def one_solution_without_metadata_and_id(h):
    h["merge_heads"].update(metadata={}, id="f3a9")


@mangling(26)
def nbformat_4_9(h):
    h.notebook["nbformat_minor"] = 9
    for cell in h.cells:
        cell["provenance"] = {"by": "a frontend of the future"}


@mangling(26)
def nbformat_5(h):
    h.notebook.update(nbformat=5, nbformat_minor=0)


@mangling(26)
def nbformat_3(h):
    cells = []
    for cell in h.cells:
        text = {"cell_type": cell["cell_type"], "metadata": cell["metadata"]}
        if cell["cell_type"] == "code":
            text |= {"input": cell["source"], "language": "python", "outputs": []}
            text |= {"collapsed": False, "prompt_number": 1}
        else:
            text["source"] = cell["source"]
        cells.append(text)
    worksheets = [{"cells": cells, "metadata": {}}]
    h.notebook = {
        "metadata": {"name": ""},
        "nbformat": 3,
        "nbformat_minor": 0,
        "worksheets": worksheets,
    }


def _schema(h, version):
    for cell in h.cells:
        if "nbgrader" in cell["metadata"]:
            cell["metadata"]["nbgrader"]["schema_version"] = version


@mangling(26)
def schema_1(h):
    _schema(h, 1)


@mangling(26)
def schema_of_the_future(h):
    _schema(h, 9)


@mangling(26)
def schema_missing(h):
    for cell in h.cells:
        cell["metadata"].get("nbgrader", {}).pop("schema_version", None)


@mangling(26)
def huge_outputs(h):
    h["look-at-rows"]["outputs"] = [
        {"output_type": "stream", "name": "stdout", "text": "0.123 " * 2_000_000}
    ]


@mangling(26)
def broken_outputs(h):
    h["look-at-rows"]["outputs"] = [{"output_type": "hologram"}, None, {"data": 3}]
    h["test_attend_value"]["outputs"] = None


# --- cells of the student's own ---


@mangling(26)
def a_cell_that_raises(h):
    h.insert("setup", "1 / 0")


@mangling(26)
def a_cell_that_asks(h):
    h.insert("setup", 'name = input("Who are you? ")')


@mangling(26)
def a_cell_that_mounts_a_drive(h):
    h.insert("setup", "from google.colab import drive\ndrive.mount('/content/drive')")


@mangling(26)
def a_cell_that_installs(h):
    h.insert("setup", "!pip install einops", "%pip install einops")


@mangling(26)
def a_cell_that_leaves(h):
    h.insert("project-idea", "exit()")


@mangling(26)
def a_cell_without_end(h):
    h.insert("where-next", "def never(:\n")


# --- files ---


@mangling(26)
def numbered(h):
    h.name = "multi_head_attention (1).ipynb"


@mangling(26)
def copy_of(h):
    h.name = "Copy of multi_head_attention.ipynb"


@mangling(26)
def capitals(h):
    h.name = "Multi_Head_Attention.ipynb"


@mangling(26)
def the_students_name(h):
    h.name = "Ada Lovelace – exercise 3 (final).ipynb"


@mangling(26)
def the_pristine_file_beside(h):
    h.name = "multi_head_attention (1).ipynb"
    h.others[NAME] = h.released


@mangling(26)
def a_notebook_of_another_kind_beside(h):
    h.others["notes.ipynb"] = {
        "cells": [new("# my notes", "a", "markdown")],
        "metadata": {},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


@mangling(26, "the most complete")
def two_worked_ones(h):
    worse = copy.deepcopy(h.notebook)
    for cell in worse["cells"]:
        if cell["id"] == "split_heads":
            cell["source"] = WRONG_SPLIT
        if cell["id"] == "attend":
            cell["source"] = h.stub("attend")
    h.others["multi_head_attention-Copy1.ipynb"] = worse


@mangling(26)
def two_of_the_same(h):
    h.others["multi_head_attention-Copy1.ipynb"] = h.notebook


@mangling(26, "ends in the middle")
def a_cut_off_file_beside(h):
    h.name = "multi_head_attention (1).ipynb"
    h.others[NAME] = json.dumps(h.notebook)[:5000]


@mangling(26)
def a_file_that_shadows_torch(h):
    h.others["torch.py"] = "raise ImportError('not this one')"
    h.others["random.py"] = "raise ImportError('nor this one')"


@mangling(26)
def a_package_that_shadows_the_checks(h):
    h.others["attention_lab/__init__.py"] = "raise ImportError('an old copy')"


@mangling(26)
def checkpoints(h):
    h.others[f".ipynb_checkpoints/{NAME}"] = h.released


@mangling(26)
def byte_order_mark(h):
    h.encode = lambda text: text.encode("utf-8-sig")


@mangling(26)
def crlf(h):
    for cell in h.cells:
        cell["source"] = "".join(cell["source"]).replace("\n", "\r\n")
    h.encode = lambda text: text.replace("\n", "\r\n").encode()


@mangling(26)
def utf_16(h):
    h.encode = lambda text: text.encode("utf-16")


@mangling(26, "no encoding that could be told")
def latin_1(h):
    h["project"]["source"] = "# é\n" + h.text("project")
    h.encode = lambda text: text.replace("\\u00e9", "é").encode("latin-1")


@mangling(26)
def halves_of_letters(h):
    h["project"]["source"] = '"""\ud83d"""\n' + h.text("project")


@mangling(None, "multi_head_attention.ipynb ends in the middle")
def cut_off(h):
    h.encode = lambda text: text[: len(text) // 2].encode()


@mangling(None, "the marks of a merge conflict")
def in_conflict(h):
    h.encode = lambda text: "\n".join(
        ["{", "<<<<<<< HEAD", text, "=======", text, ">>>>>>> mine"]
    ).encode()


@mangling(None, "multi_head_attention.ipynb is empty")
def empty(h):
    h.encode = lambda text: b""


@mangling(None, "is a zip archive")
def zipped(h):
    h.encode = lambda text: b"PK\x03\x04" + text.encode()


@mangling(None, "holds no cell of the lesson")
def another_notebook(h):
    h.notebook["cells"] = [new("print('hello')", "hello")]


@mangling(None, "it has no cells")
def another_json(h):
    h.notebook = {"points": 24}


@mangling(None, "is a link")
def a_link_to_elsewhere(h):
    h.name = None

    def link(folder):
        classmate = folder.parents[1] / "nothing" / ASSIGNMENT / NAME
        (folder / NAME).symlink_to(classmate)

    return link


@mangling(26)
def a_link_to_its_own_file(h):
    h.name = "mine.ipynb"
    return lambda folder: (folder / NAME).symlink_to("mine.ipynb")


@mangling(26)
def linked_files_beside(h):
    def link(folder):
        (folder / "nowhere.csv").symlink_to("/nowhere")
        (folder / "secret.txt").symlink_to(folder.parents[2] / "secret.txt")

    return link


@mangling(26, "which lies a folder too deep")
def a_folder_too_deep(h):
    h.name = None
    h.others[f"mha/{NAME}"] = h.notebook


@mangling(26)
def capitals_everywhere(h):
    h.name = NAME.upper()


@mangling(26)
def nbformat_3_with_headings(h):
    nbformat_3(h)
    cells = h.notebook["worksheets"][0]["cells"]
    cells.insert(0, {"cell_type": "heading", "level": 2, "source": ["Attention\n", "heads"]})


@mangling(26)
def a_pasted_picture(h):
    picture = {"image/png": "iVBORw0KGgoAAAANSUhEUg=="}
    h.insert("project-idea", "![mine](attachment:a.png) ![lost](attachment:b.png)", kind="markdown")
    h.cells[h.at("project-idea") + 1]["attachments"] = {"a.png": picture}


@mangling(26, "left out what lies beside it: pipe (a named pipe)")
def a_pipe_beside(h):
    return lambda folder: os.mkfifo(folder / "pipe")


@mangling(26, "left out what lies beside it: here (a socket)")
def a_socket_beside(h):
    def listen(folder):
        with contextlib.chdir(folder), socket.socket(socket.AF_UNIX) as server:
            server.bind("here")

    return listen


@mangling(26, "left out what lies beside it: .venv (not part of the work)")
def an_environment_beside(h):
    for folder in (".venv/lib", "node_modules/x", ".git/objects"):
        h.others |= {f"{folder}/{i}.txt": str(i) for i in range(100)}


@mangling(26)
def three_thousand_files_beside(h):
    h.others |= {f"data/{i}.csv": "1" for i in range(3000)}


@mangling(26, "left out what lies beside it: timestamp.txt (a named pipe)")
def a_timestamp_that_is_a_pipe(h):
    return lambda folder: os.mkfifo(folder / "timestamp.txt")


@mangling(26)
def a_file_whose_name_is_not_utf_8(h):
    h.name = os.fsdecode(b"caf\xe9\x1b[31m.ipynb")


@mangling(None, "there is no notebook in it")
def a_pdf_only(h):
    h.name = None
    h.others["answers.pdf"] = "%PDF-1.7"


# --- cells of the lesson ---


def _copied(h, name, after, source=None):
    twin = copy.deepcopy(h[name])
    twin["id"] = "copied"
    twin["source"] = h.text(name) if source is None else source
    h.cells.insert(h.at(after) + 1, twin)


@mangling(26)
def a_test_copied(h):
    _copied(h, "test_split_heads_value", after="test_split_heads_value")


@mangling(26)
def a_solution_copied(h):
    _copied(h, "split_heads", after="split_heads")


@mangling(26)
def a_solution_copied_and_the_first_left_a_stub(h):
    _copied(h, "split_heads", after="split_heads")
    h["split_heads"]["source"] = h.stub("split_heads")


@mangling(26)
def a_stub_copied_below_its_answer(h):
    _copied(h, "split_heads", after="split_heads", source=h.stub("split_heads"))


@mangling(26, "split_heads: answered several times")
def a_draft_copied_above(h):
    _copied(h, "split_heads", after="split_heads")
    h["split_heads"]["source"] = WRONG_SPLIT


@mangling(24, "split_heads: answered several times")
def a_wrong_copy_below_a_right_one(h):
    _copied(h, "split_heads", after="split_heads", source=WRONG_SPLIT)


@mangling(26)
def a_wrong_try_further_down(h):
    h.insert("test_split_heads_value", WRONG_SPLIT)


@mangling(24, "split_heads: lost points, and a cell further down has another answer")
def a_right_one_further_down(h):
    h.insert("test_split_heads_value", h.text("split_heads"))
    h["split_heads"]["source"] = WRONG_SPLIT


@mangling(26, "split_heads: stood in two cells")
def a_solution_split_inside(h):
    """JupyterLab gives both halves the metadata."""
    lines = h.text("split_heads").splitlines(keepends=True)
    _copied(h, "split_heads", after="split_heads", source="".join(lines[1:]))
    h["split_heads"]["source"] = lines[0]


@mangling(26, "MultiHeadAttention: stood in two cells")
def a_class_split_between_methods(h):
    head, _, tail = h.text("MultiHeadAttention").partition("    def forward")
    h["MultiHeadAttention"]["source"] = head
    h.insert("MultiHeadAttention", "    def forward" + tail)


@mangling(26)
def a_helper_split_off(h):
    _copied(h, "split_heads", after="split_heads")
    h["split_heads"]["source"] = "def helper(x):\n    return x"


@mangling(26, "attention_scores: graded what the cell of another step defines")
def two_solutions_merged(h):
    h["split_heads"]["source"] = h.text("split_heads") + "\n\n" + h.text("attention_scores")
    h.pop("attention_scores")


@mangling(26)
def a_solution_merged_with_its_tests(h):
    tests = [h.text(name) for name in ("test_attend_shape", "test_attend_value")]
    h["attend"]["source"] = "\n\n".join([h.text("attend"), *tests])
    h.pop("test_attend_shape")
    h.pop("test_attend_value")


@mangling(26, "split_heads: graded what the cell of another step defines")
def a_solution_merged_into_the_test_above(h):
    test = h["test_project_value"]
    test["source"] = h.text("test_project_value") + "\n\n" + h.text("split_heads")
    h.pop("split_heads")


@mangling(26, "attend: graded what the cell of another step defines")
def an_answer_written_into_its_test(h):
    h["test_attend_shape"]["source"] = h.text("attend") + "\n" + h.text("test_attend_shape")
    h["attend"]["source"] = h.stub("attend")


@mangling(23, "split_heads: no cell answers it")
def a_solution_deleted(h):
    h.pop("split_heads")


@mangling(26)
def tests_deleted(h):
    for name in ("test_project_shape", "test_split_heads_value", "test_MultiHeadAttention_value"):
        h.pop(name)


@mangling(26)
def setup_deleted(h):
    h.pop("setup")


@mangling(26)
def setup_broken(h):
    h["setup"]["source"] = "import einops\n" + h.text("setup").replace(
        "import torch.nn", "import x"
    )


@mangling(26)
def everything_but_the_answers_deleted(h):
    h.notebook["cells"] = [cell for cell in h.cells if cell["id"] in SOLUTIONS]


@mangling(26, "MendedAttention: graded what another cell defines")
def answers_alone_in_a_new_notebook(h):
    h.notebook["cells"] = [new(h.text(name), f"n{i}") for i, name in enumerate(SOLUTIONS)]


@mangling(26)
def a_test_edited(h):
    h["test_attend_value"]["source"] = "pass  # attend works for me"


@mangling(23)
def a_test_edited_to_pass(h):
    h["split_heads"]["source"] = h.stub("split_heads")
    h["test_split_heads_shape"]["source"] = "pass"
    h["test_split_heads_value"]["source"] = "pass"


def _to_text(h, name, kind):
    for key in ("outputs", "execution_count"):
        h[name].pop(key)
    h[name]["cell_type"] = kind


@mangling(26, "attend: stood in a text cell")
def a_solution_turned_markdown(h):
    _to_text(h, "attend", "markdown")


@mangling(26, "attend: stood in a text cell")
def a_solution_turned_raw(h):
    _to_text(h, "attend", "raw")


@mangling(26)
def a_test_turned_markdown(h):
    _to_text(h, "test_attend_value", "markdown")


@mangling(26, "attend: graded what another cell defines")
def an_answer_in_a_new_cell_below_the_tests(h):
    h.insert("test_attend_value", h.text("attend"))
    h["attend"]["source"] = h.stub("attend")


@mangling(26, "attend: graded what another cell defines")
def an_answer_in_a_new_cell_above_the_stub(h):
    h.insert("attend-exercise", h.text("attend"))
    h["attend"]["source"] = h.stub("attend")


@mangling(26, "MendedAttention: graded what another cell defines")
def all_answers_in_one_cell_at_the_end(h):
    helper = "def swap(x):\n    return x.transpose(1, 2)"
    h.insert("where-next", "\n\n\n".join(h.text(name) for name in SOLUTIONS), helper)
    for name in SOLUTIONS:
        h[name]["source"] = h.stub(name)


@mangling(23, "split_heads: its cell defines no split_heads")
def a_function_renamed(h):
    h["split_heads"]["source"] = h.text("split_heads").replace("def split_heads", "def splitHeads")


@mangling(26)
def cells_in_another_order(h):
    h.cells.append(h.pop("split_heads"))
    h.cells.insert(5, h.pop("test_attend_value"))


@mangling(26)
def timed(h):
    for name in SOLUTIONS:
        h[name]["source"] = "%%time\n" + h.text(name)


@mangling(26)
def grade_ids_of_others_claimed(h):
    """A copied test, with another name and points, in a cell of the student's own."""
    cell = new("print('give me points')", "mine")
    cell["metadata"]["nbgrader"] = {
        "grade": True, "grade_id": "test_easy", "locked": True, "points": 100,
        "schema_version": 3, "solution": False, "task": False,
    }  # fmt: skip
    h.cells.append(cell)
    h["test_attend_value"]["metadata"]["nbgrader"]["points"] = 100


@mangling(26)
def metadata_of_strange_types(h):
    h["project-idea"]["metadata"] = None
    h["look-at-rows"]["metadata"] = {"nbgrader": "yes", "id": 3}
    h["attend"]["metadata"]["nbgrader"] = ["grade_id", "attend"]
    h.notebook["metadata"] = []
    h.cells.append("a cell?")
    h.cells.append({"cell_type": "code"})
    h.cells.append({"cell_type": None, "source": None})


@mangling(26)
def ids_that_stand_twice(h):
    h["project-idea"]["id"] = "attend"
    h["look-at-rows"]["id"] = "split-idea"
    h["look-at-mask"]["id"] = "not an id!"


@mangling(26, "another version of the lesson")
def the_release_of_an_earlier_version(h):
    """Other checks, an import that is gone, no `project` step yet, a step that is gone."""
    h["setup"]["source"] = "import torch\nfrom attention_lab import tests\n"
    for name in ("test_attend_shape", "test_attend_value"):
        edition = h[name]
        edition["source"] = f"tests.attend(attend)  # {name}"
        edition["metadata"]["nbgrader"]["checksum"] = checksum(edition)
    h["cross_attention"]["metadata"]["nbgrader"]["grade_id"] = "positional_encoding"
    h.pop("test_project_shape")


@mangling(26)
def a_stub_left_above_the_answer(h):
    h["attend"]["source"] = h.stub("attend") + "\n\n\n" + h.text("attend")


@mangling(26)
def a_raise_left_below_the_answer(h):
    h["attend"]["source"] = h.text("attend").rstrip() + "\n    raise NotWrittenYet"


@mangling(26, "MendedAttention: graded what the cell of another step defines")
def everything_merged_into_one_cell(h):
    text = "\n\n".join("".join(c["source"]) for c in h.cells if c["cell_type"] == "code")
    h["project"]["source"] = text
    h.notebook["cells"] = [h["project"]]


@mangling(26, "MendedAttention: graded what another cell defines")
def a_script_pasted_into_a_new_notebook(h):
    code = ("".join(c["source"]) for c in h.cells if c["cell_type"] == "code")
    script = "\n\n\n".join(f"# In[{n}]:\n\n\n{text}" for n, text in enumerate(code))
    h.notebook["cells"] = [new("#!/usr/bin/env python\n# coding: utf-8\n\n" + script, "one")]


@mangling(26)
def answers_in_a_file_beside(h):
    h.others["answers.py"] = "import math\nimport torch\n\n\n" + h.text("split_heads")
    h["split_heads"]["source"] = "from answers import *"


@mangling(26)
def the_pristine_lesson_pasted_below(h):
    for i, cell in enumerate(copy.deepcopy(h.released["cells"])):
        h.cells.append(cell | {"id": f"pasted-{i}"})


@mangling(26, "split_heads, merge_heads: graded what the cell of another step defines")
def grade_ids_exchanged(h):
    one, other = h["split_heads"], h["merge_heads"]
    for key in ("id", "metadata"):
        one[key], other[key] = other[key], one[key]


@mangling(26)
def tests_exchanged(h):
    i, j = h.at("test_project_value"), h.at("test_attend_value")
    h.cells[i], h.cells[j] = h.cells[j], h.cells[i]


@mangling(26, "MendedAttention: stood in a text cell")
def every_cell_turned_markdown(h):
    for cell in h.cells:
        if cell["cell_type"] == "code":
            _to_text(h, cell["id"], "markdown")


@mangling(26)
def setup_turned_raw(h):
    _to_text(h, "setup", "raw")


@mangling(23, "split_heads: its cell is no Python")
def a_cell_in_conflict(h):
    text = h.text("split_heads")
    h["split_heads"]["source"] = f"<<<<<<< HEAD\n{text}\n=======\n{text}\n>>>>>>> mine"


@mangling(26)
def a_mac_archive(h):
    h.others[f"._{NAME}"] = "\0\5\x16\7"
    h.others[f"__MACOSX/._{NAME}"] = "\0\5\x16\7"
    h.others[".DS_Store"] = "\0"


@mangling(26)
def the_edition_for_self_learners(h):
    """With its set-up cells, which write another copy of the package."""
    root = Path(__file__).parents[2]
    text = (root / "notebooks" / NAME).read_text(encoding="utf-8")
    answers = {name: h.text(name) for name in SOLUTIONS}
    h.notebook = json.loads(text)
    for name, answer in answers.items():
        h[name]["source"] = answer


@mangling(26)
def a_cell_of_a_megabyte(h):
    h.insert("setup", "split_heads = '" + "split_heads " * 90_000 + "'")


@mangling(26)
def names_used_for_other_things(h):
    h.insert("setup", "check = example = None", "def NotWrittenYet(): ...")


@mangling(26)
def answers_in_a_branch(h):
    body = h.text("attend").replace("\n", "\n    ")
    h["attend"]["source"] = f"if torch.cuda.is_available():\n    pass\nelse:\n    {body}"


@mangling(26, "the most complete")
def drafts_of_every_kind_beside(h):
    draft = copy.deepcopy(h.released)
    for cell in draft["cells"]:
        if cell["id"] == "split_heads":
            cell["source"] = WRONG_SPLIT
    h.name = "final FINAL (2).ipynb"
    h.others |= {NAME: draft, "Untitled.ipynb": draft, "old[1].ipynb": h.released}


def checksum(cell: dict) -> str:
    """nbgrader's, of the cell as it is now."""
    return compute_checksum(nbformat.from_dict(cell))
