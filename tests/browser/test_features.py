"""The tables of `show_features` in a page of their own."""

from __future__ import annotations

import pytest
import torch
from axe_playwright_python.sync_playwright import Axe

from attention_lab import example
from attention_lab.heatmap import show_features


@pytest.fixture
def shown():
    queries = example.q_proj(example.x)
    split = {"yours": queries.view(6, 4, 8).movedim(1, 0), "viewed": queries.view(4, 6, 8)}
    return show_features(split, example.tokens, title="Queries, cut into heads")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(open_page, shown, scheme):
    page = open_page(shown, color_scheme=scheme)
    assert page.locator("section.features").get_attribute("data-theme") == scheme
    assert Axe().run(page).violations_count == 0


def test_heads_have_colours_that_alternate(open_page, shown):
    page = open_page(shown)
    colour = "head => getComputedStyle(head).backgroundColor"
    heads = page.locator("section th[scope=colgroup]").all()[:4]
    colours = [head.evaluate(colour) for head in heads]
    assert colours[0] == colours[2] != colours[1] == colours[3]


def test_a_wide_table_scrolls_by_itself(open_page):
    page = open_page(show_features(torch.randn(4, 3, 16)), width=390)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.locator(".scroll").evaluate("box => box.scrollWidth > box.clientWidth")
