"""The editions as their learners open them: run from top to bottom in JupyterLab and Notebook 7."""

from __future__ import annotations

import json
from pathlib import Path

import nbformat
import pytest
from nbgrader.utils import is_solution
from playwright.sync_api import expect

from classroom.editions import build
from classroom.editions.notebook import from_json
from classroom.editions.package import PACKAGE, copy_package

PATHS = {
    "release": "release/mha/multi_head_attention.ipynb",
    "notebooks": "notebooks/multi_head_attention.ipynb",
}
ROOT = Path(__file__).parents[2]
# JupyterLab 4.2 to 4.4 complains so of a notebook that runs as soon as it is opened; Notebook 7 of
# any notebook, of any in a folder, and (7.2) of any never saved.
OF_THE_APP = (
    "'isRunning'",
    "reading 'schema'",
    "'filebrowser:open-path' not registered",
    "reading 'last_modified'",
)
DONE = "import pathlib, attention_lab\npathlib.Path('done').write_text(attention_lab.__file__)"


@pytest.fixture(scope="module")
def built():
    return build(ROOT)


@pytest.fixture
def place(built, jupyter):
    """Put an edition, with its solutions in place, into a folder of its own; returns its file."""

    def place(name):
        source = from_json(built["source/mha/multi_head_attention.ipynb"])
        solutions = {cell.id: cell.source for cell in source.cells if is_solution(cell)}
        notebook = from_json(built[PATHS[name]])
        for cell in notebook.cells:
            cell.source = solutions.get(cell.id, cell.source)
        notebook.cells.append(nbformat.v4.new_code_cell(DONE, id="done"))
        folder = jupyter.folder / name
        folder.mkdir()
        nbformat.write(notebook, folder / "mha.ipynb")
        if name == "release":
            copy_package(ROOT / "src" / PACKAGE, folder)
        return folder / "mha.ipynb"

    return place


def item(page, words):
    """The entry of an open menu; JupyterLab 4.2 has the same words in its hidden palette."""
    return page.locator(".lm-Menu-itemLabel").get_by_text(words, exact=True)


def choose_theme(page, theme):
    page.get_by_role("menuitem", name="Settings", exact=True).click()
    item(page, "Theme").hover()
    item(page, f"JupyterLab {theme}").click()


def wait_for(page, what):
    for _ in range(6000):  # twenty minutes, for a busy machine
        if what():
            return
        page.wait_for_timeout(200)
    raise TimeoutError


def run_all(page, file):
    """Run all cells and save; returns the notebook as saved."""
    expect(page.locator(".jp-Toolbar-kernelName")).to_contain_text("Python 3", timeout=60_000)
    page.wait_for_selector('[data-status="idle"]', state="attached", timeout=60_000)
    page.get_by_role("menuitem", name="Run", exact=True).click()
    item(page, "Run All Cells").click()
    wait_for(page, (file.parent / "done").exists)
    before = file.stat().st_mtime_ns
    page.get_by_role("menuitem", name="File", exact=True).click()
    item(page, "Save Notebook").click()
    wait_for(page, lambda: file.stat().st_mtime_ns != before and is_whole(file))
    return nbformat.read(file, as_version=nbformat.NO_CONVERT)


def is_whole(file):
    """Whether a notebook is not being written just now."""
    try:
        return bool(json.loads(file.read_text(encoding="utf-8")))
    except ValueError:
        return False


@pytest.mark.parametrize(
    ("edition", "app", "theme"),
    [("release", "lab/tree", "Dark"), ("notebooks", "notebooks", "Light")],
)
def test_runs_from_top_to_bottom_without_a_complaint(edition, app, theme, place, jupyter, lab):
    file = place(edition)
    page = lab(file.relative_to(jupyter.folder).as_posix(), app, tolerate=OF_THE_APP)
    choose_theme(page, theme)
    saved = run_all(page, file)
    outputs = [
        (cell.id, output)
        for cell in saved.cells
        if cell.cell_type == "code"
        for output in cell.outputs
    ]
    assert [
        (cell_id, output.get("text", output.get("evalue")))
        for cell_id, output in outputs
        if output.output_type == "error" or output.get("name") == "stderr"
    ] == []
    assert Path(file.with_name("done").read_text()).is_relative_to(file.parent)
    assert sum("data-heads" in str(output) for _, output in outputs) > 8
    solutions = [cell_id for cell_id, output in outputs if "One way to write" in str(output)]
    assert bool(solutions) is (edition == "notebooks")
    expect(page.locator("section.heads").first).to_have_attribute("data-theme", theme.lower())
