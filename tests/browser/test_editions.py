"""The editions as their learners open them: run from top to bottom in JupyterLab and Notebook 7."""

from __future__ import annotations

import re
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
STDERR = '[data-mime-type="application/vnd.jupyter.stderr"]'
ERROR = '[data-mime-type="application/vnd.jupyter.error"]'


@pytest.fixture(scope="module")
def built():
    return build(ROOT)


@pytest.fixture
def place(built, jupyter):
    """Put an edition, with its solutions in place, into a folder of its own; returns its path."""

    def place(name):
        source = from_json(built["source/mha/multi_head_attention.ipynb"])
        solutions = {cell.id: cell.source for cell in source.cells if is_solution(cell)}
        notebook = from_json(built[PATHS[name]])
        for cell in notebook.cells:
            cell.source = solutions.get(cell.id, cell.source)
        folder = jupyter.folder / name
        folder.mkdir()
        nbformat.write(notebook, folder / "mha.ipynb")
        if name == "release":
            copy_package(ROOT / "src" / PACKAGE, folder)
        return f"{name}/mha.ipynb"

    return place


def use_dark_theme(page):
    page.get_by_text("Settings", exact=True).click()
    page.get_by_text("Theme", exact=True).hover()
    page.get_by_text("JupyterLab Dark", exact=True).click()


@pytest.mark.parametrize(
    ("edition", "app", "dark"), [("release", "lab/tree", True), ("notebooks", "notebooks", False)]
)
def test_runs_from_top_to_bottom_without_a_complaint(edition, app, dark, place, lab):
    page = lab(place(edition), app)
    complaints = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda said: said.type == "error" and complaints.append(said.text))
    if dark:
        use_dark_theme(page)
    page.wait_for_selector('[data-status="idle"]', state="attached", timeout=60_000)
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_text("Run All Cells", exact=True).click()
    last = page.locator(".jp-Notebook .jp-CodeCell").last
    expect(last.locator(".jp-InputPrompt")).to_have_text(re.compile(r"\d"), timeout=120_000)
    expect(page.locator(f".jp-Notebook :is({STDERR}, {ERROR})")).to_have_count(0)
    heatmaps = page.locator(".jp-Notebook [data-heads]")
    assert heatmaps.count() > 8
    themes = page.locator("section.heads").evaluate_all("all => all.map(e => e.dataset.theme)")
    assert set(themes) == {"dark" if dark else "light"}
    expect(page.get_by_text("24 of 24 points so far")).not_to_have_count(0)
    assert complaints == []
