"""The progress panel, the reset of an exercise and the summary, in a real JupyterLab."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import expect

PANEL = """
import torch
from attention_lab import check, progress
progress.panel()
"""
RESET = "progress.reset('attend')"


def cell(page, at):
    return page.locator(".jp-Notebook .jp-Cell").nth(at)


def run(page, at):
    cell(page, at).locator(".jp-InputArea-editor").click()
    page.keyboard.press("Control+Enter")


def test_a_check_moves_the_panel_and_a_reset_brings_the_stub_back(jupyter, lab):
    jupyter.write(
        "progress.ipynb", PANEL, "check.attend(torch.matmul)", RESET, "progress.summary()"
    )
    page = lab("progress.ipynb", run=True)
    expect(cell(page, 0).get_by_role("table")).to_contain_text("0 of 26 points", timeout=60_000)

    run(page, 1)
    table = cell(page, 0).get_by_role("table")
    expect(table).to_contain_text("2 of 26 points so far, by the visible checks", timeout=20_000)
    expect(table.get_by_role("row", name="attend")).to_contain_text("✓ right")
    assert (jupyter.folder / "attention_lab_progress.json").exists()

    run(page, 3)
    with page.expect_download() as download:
        cell(page, 3).get_by_role("link", name="Download").click()
    assert "2 of 26 points" in Path(download.value.path()).read_text(encoding="utf-8")

    run(page, 2)
    expect(cell(page, 2).locator(".cm-content")).to_contain_text("raise NotWrittenYet")
    expect(cell(page, 2).locator(".cm-content")).not_to_contain_text("progress.reset")
    expect(table).to_contain_text("0 of 26 points")
    page.keyboard.press("Control+z")
    expect(cell(page, 2).locator(".cm-content")).to_contain_text(RESET)
    expect(page.locator(".jp-Notebook .jp-Cell")).to_have_count(4)
