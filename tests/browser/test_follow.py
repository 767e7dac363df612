"""The stepper of `follow` in a page of its own."""

from __future__ import annotations

import pytest
import torch
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from attention_lab import follow


def project(x, q_proj, k_proj, v_proj):
    return q_proj(x), k_proj(x), v_proj(x)


def split_heads(x, num_heads):
    return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)


def attention_scores(q, k):
    return q @ k.mT / q.shape[-1] ** 0.5


def causal_mask(T, device=None, dtype=None):
    return torch.full((T, T), -torch.inf).triu(1)


def masked_softmax(scores, mask=None):
    return (scores if mask is None else scores + mask).softmax(-1)


def attend(weights, v):
    return weights @ v


def merge_heads(x):
    return x.transpose(1, 2).flatten(2)


@pytest.fixture
def walk():
    return follow(globals(), "the cat likes the dog", token="likes")


def where(page):
    return page.locator("[aria-live]")


def test_buttons_keys_and_slider_step(open_page, walk):
    page = open_page(walk)
    expect(where(page)).to_have_text("Start: x")
    page.get_by_role("button", name="Next").click()
    expect(where(page)).to_have_text("Step 1 of 7: project")
    page.keyboard.press("ArrowRight")
    expect(where(page)).to_have_text("Step 2 of 7: split_heads")
    page.keyboard.press("ArrowLeft")
    expect(where(page)).to_have_text("Step 1 of 7: project")
    page.get_by_role("slider", name="Step").press("End")
    expect(where(page)).to_have_text("Step 7 of 7: merge_heads")
    expect(page.get_by_role("button", name="Next")).to_be_disabled()
    expect(page.get_by_role("listitem")).to_have_count(1)


def test_wrong_view_on_demand(open_page, walk):
    page = open_page(walk)
    page.get_by_role("slider", name="Step").fill("2")
    wrong = page.locator("td.wrong")
    expect(wrong.first).to_be_hidden()
    page.get_by_text("Beside it: view straight").click()
    expect(wrong.first).to_be_visible()


def test_all_steps_without_scripts(open_page, walk):
    page = open_page(walk, java_script_enabled=False)
    expect(page.locator("li > .title")).to_have_count(8)
    # JupyterLab lists the headings of outputs in its table of contents.
    expect(page.get_by_role("heading", level=3)).to_have_count(0)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(open_page, walk, scheme):
    page = open_page(walk, color_scheme=scheme)
    for step in range(8):
        page.get_by_role("slider", name="Step").fill(str(step))
        results = Axe().run(page)
        assert results.violations_count == 0, results.generate_report()


def test_narrow_page_does_not_scroll_sideways(open_page, walk):
    page = open_page(walk, width=390)
    for step in range(8):
        page.get_by_role("slider", name="Step").fill(str(step))
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
