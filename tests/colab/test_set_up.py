"""The set-up section by itself: run twice, not at all, in part, and beside an older package."""

import json

import pytest
from nbformat.v4 import new_code_cell

from classroom.editions.notebook import from_json, new_notebook

CHECK = "check.attend(torch.matmul)"
IS_OLD = "from attention_lab import stub\nprint(hasattr(stub, 'OLD'))"
LEFT_OVER = "import pathlib\npathlib.Path('attention_lab/left_over.py').write_text('1')"
# Runs a chapter's cells one after the other, and shows what its last one shows.
RUN = """
import json, pathlib
from IPython.utils.capture import capture_output
*before, last = json.loads(pathlib.Path("chapters.json").read_text())[{name!r}]
with capture_output():
    for source in before:
        get_ipython().run_cell(source)
get_ipython().run_cell(last);
"""


@pytest.fixture(scope="module")
def chapters(written):
    """What somebody runs in one kernel: the cells by the name of the chapter, in order."""
    cells = {cell.id: cell.source for cell in from_json(written).cells}
    ids = [*cells]
    set_up = ids[ids.index("set-up-begin") : ids.index("set-up-end") + 1]
    all_of_it, imports = [cells[each] for each in set_up], cells["setup"]
    older = [text.replace("═══ stub.py\n", "═══ stub.py\nOLD = 1\n") for text in all_of_it]
    older[-1] = older[-1].partition("edition.expect")[0]  # it would expect its own code
    return {
        "not yet": [imports],
        "once": all_of_it,
        "then": [imports, CHECK],
        "twice": all_of_it,
        "then again": [imports, CHECK],
        "older package": [*older, IS_OLD],
        "beside it": [imports],
        "mended": all_of_it,
        "and then": [imports, IS_OLD],
        "not from its first": [LEFT_OVER, *all_of_it[1:]],
        "incomplete": [text for text in all_of_it if "═══ edition.py\n" not in text],
        "whole": all_of_it,
    }


@pytest.fixture(scope="module")
def read(chapters, execute, tmp_path_factory):
    """Run the chapters of these names in one kernel, all in the same folder."""
    folder = tmp_path_factory.mktemp("content")
    (folder / "chapters.json").write_text(json.dumps(chapters), encoding="utf-8")

    def read(names):
        cells = [new_code_cell(RUN.format(name=name)) for name in names]
        done = execute(new_notebook(cells), folder).cells
        return {
            name: "".join(map(text_of, cell.outputs))
            for name, cell in zip(names, done, strict=True)
        }

    return read


@pytest.fixture(scope="module")
def said(chapters, read):
    """What the last cell of each chapter printed, or raised."""
    return read([*chapters])


def text_of(output):
    return output.evalue if output.output_type == "error" else output.text


def test_before_the_set_up_one_line_says_what_to_do(said):
    assert "attention_lab is missing" in said["not yet"]
    assert "Set-up" in said["not yet"]


@pytest.mark.parametrize(("run", "then"), [("once", "then"), ("twice", "then again")])
def test_it_can_be_run_once_and_again(said, run, then):
    assert said[run].startswith("attention_lab is ready.")
    assert said[then].startswith("✓ attend")


def test_an_older_package_is_refused_until_the_set_up_has_run(said):
    assert said["older package"] == "True\n"
    assert "is not the code that this notebook brings" in said["beside it"]
    assert "Run all cells of the notebook's Set-up section" in said["beside it"]
    assert said["mended"].startswith("attention_lab is ready.")
    assert said["and then"] == "False\n"


def test_a_cell_of_it_that_was_left_out_is_told(said):
    assert "is not the code that this notebook brings" in said["not from its first"]
    assert "attention_lab is incomplete: run all cells" in said["incomplete"]
    assert said["whole"].startswith("attention_lab is ready.")


def test_a_restarted_kernel_needs_no_set_up(said, read):
    assert read(["then"])["then"] == said["then"]
