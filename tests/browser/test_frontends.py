"""Heatmaps where they live: JupyterLab, Notebook 7, exported pages, feedback."""

from __future__ import annotations

import re

import nbformat
import numpy as np
import pytest
from nbconvert import HTMLExporter
from playwright.sync_api import expect

from attention_lab import follow, play, show_heads

HEADS = """
import numpy as np
from attention_lab import show_heads
rng = np.random.default_rng(0)
w = np.exp(rng.normal(size=(4, 6, 6)))
show_heads(w / w.sum(-1, keepdims=True), "the cat likes the other cat".split())
"""
PLAY = """
import torch
from attention_lab import play
def attention(tokens, temperature=1.0, causal=False):
    if "dog" in tokens:
        raise ValueError("no dogs")
    T = len(tokens)
    scores = torch.arange(2 * T * T).view(2, T, T) % 5 / temperature
    if causal:
        scores = scores + torch.full((T, T), -torch.inf).triu(1)
    return scores.softmax(-1)
play(attention, "the cat sat")
"""


FOLLOW = """
import torch
from attention_lab import follow
def project(x, q_proj, k_proj, v_proj):
    return q_proj(x), k_proj(x), v_proj(x)
def split_heads(x, num_heads):
    return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)
def attention_scores(q, k):
    return q @ k.mT / q.shape[-1] ** 0.5
def causal_mask(T):
    return torch.full((T, T), -torch.inf).triu(1)
def masked_softmax(scores, mask):
    return (scores + mask).softmax(-1)
def attend(weights, v):
    return weights @ v
def merge_heads(x):
    return x.transpose(1, 2).flatten(2)
follow(globals(), "the cat likes", token="cat")
"""
WIDGET = "application/vnd.jupyter.widget-view+json"


def walk():
    names = {}
    exec(FOLLOW.rpartition("\n")[0].rpartition("\n")[0], names)
    return follow(names, "the cat likes")


def map_of(page):
    return page.get_by_role("application").first


def pixels(page):
    return map_of(page).evaluate("canvas => canvas.toDataURL()")


def changed(page, before):
    page.wait_for_function(
        """before => document.querySelector('[data-heads]').shadowRoot
             .querySelector('canvas[tabindex]').toDataURL() !== before""",
        arg=before,
    )


@pytest.mark.parametrize("app", ["lab/tree", "notebooks"])
def test_live_keys_stay_inside(jupyter, lab, app):
    jupyter.write("heads.ipynb", HEADS, "1 + 1")
    page = lab("heads.ipynb", app, run=True, tolerate="reading 'schema'")  # Notebook 7.6's own
    expect(map_of(page)).to_be_visible(timeout=60_000)
    before = pixels(page)
    page.get_by_role("radio", name=re.compile("head 2")).click()
    changed(page, before)
    for key in "xddaj":
        page.keyboard.press(key)
    map_of(page).focus()
    for key in ["x", "ArrowUp", "ArrowUp", "Enter"]:
        page.keyboard.press(key)
    expect(page.locator(".jp-Notebook .jp-CodeCell")).to_have_count(2)
    expect(map_of(page)).to_be_focused()


def test_theme_switch_is_followed(jupyter, lab):
    jupyter.write("theme.ipynb", HEADS)
    page = lab("theme.ipynb", run=True)
    root = page.locator("section.heads")
    expect(root).to_have_attribute("data-theme", "light", timeout=60_000)
    page.get_by_role("menuitem", name="Settings", exact=True).click()
    page.locator(".lm-Menu-itemLabel").get_by_text("Theme", exact=True).hover()
    page.get_by_text("JupyterLab Dark", exact=True).click()
    expect(root).to_have_attribute("data-theme", "dark", timeout=20_000)


def test_play_recomputes_and_shows_what_goes_wrong(jupyter, lab):
    jupyter.write("play.ipynb", PLAY)
    page = lab("play.ipynb", run=True)
    expect(map_of(page)).to_be_visible(timeout=60_000)
    expect(page.locator(".jupyter-widgets").first).to_be_visible()
    before = pixels(page)
    page.get_by_role("button", name="causal").click()
    changed(page, before)
    sentence = page.locator(".widget-text input")
    sentence.fill("the dog sat")
    sentence.press("Enter")
    expect(page.get_by_role("note")).to_contain_text("ValueError: no dogs")
    expect(page.get_by_role("button", name="Table")).to_be_hidden()
    sentence.fill("the cat sat down")
    sentence.press("Enter")
    expect(page.get_by_role("note")).to_have_count(0)
    expect(map_of(page)).to_be_visible()
    page.get_by_role("button", name="Table").click()
    expect(page.get_by_role("columnheader", name="down")).to_be_visible()


def output(shown):
    return nbformat.v4.new_output("display_data", shown._repr_mimebundle_())


def heads():
    weights = np.tile(np.full((3, 3), 1 / 3), (2, 1, 1))
    return show_heads(weights, ["a", "b", "c"])


def test_follow_steps_and_keeps_its_keys(jupyter, lab):
    jupyter.write("follow.ipynb", FOLLOW, "1 + 1")
    page = lab("follow.ipynb", run=True)
    where = page.locator("section.walk [aria-live]")
    expect(where).to_have_text("Start: x", timeout=60_000)
    page.get_by_role("button", name="Next").click()
    for key in ["ArrowRight", "x", "d", "d", "ArrowRight"]:
        page.keyboard.press(key)
    expect(where).to_have_text("Step 3 of 7: attention_scores")
    expect(page.get_by_role("columnheader", name="your score")).to_be_visible()
    expect(page.locator(".jp-Notebook .jp-CodeCell")).to_have_count(2)


@pytest.mark.parametrize("app", ["lab/tree", "notebooks"])
def test_trusted_reopen_is_alive_though_nothing_has_run(jupyter, lab, app):
    widgets = {WIDGET: {"version_major": 2, "version_minor": 0, "model_id": "lost"}}
    lost = nbformat.v4.new_output("display_data", widgets | {"text/plain": "sliders"})
    player = output(play(lambda tokens, causal=False: np.eye(3)[None] / (1 + causal), "a b c"))
    jupyter.write("own.ipynb", "1", "2", outputs=[[output(heads())], [lost, player]], trusted=True)
    notebook_7 = ["reading 'schema'", "filebrowser:open-path"]  # its own
    page = lab("own.ipynb", app, tolerate=["widget model not found", *notebook_7])
    expect(page.get_by_role("application")).to_have_count(2)
    before = pixels(page)
    page.get_by_role("button", name="causal", exact=True).first.click()
    changed(page, before)
    page.get_by_role("button", name="causal", exact=True).last.click()
    expect(page.get_by_text("Rows do not sum to 1")).to_be_visible()
    expect(page.get_by_text("Error displaying widget")).to_be_hidden()


def test_untrusted_reopen_shows_pictures_tables_and_words(jupyter, lab):
    jupyter.write("stranger.ipynb", "1", "2", outputs=[[output(heads())], [output(walk())]])
    page = lab("stranger.ipynb")
    image = page.locator(".jp-OutputArea img")
    expect(image).to_be_visible()
    assert image.evaluate("image => image.naturalWidth") > 300
    expect(page.get_by_text("2 heads, 3 tokens")).to_be_visible()
    expect(page.get_by_text("merge_heads", exact=True)).to_be_visible()
    expect(page.get_by_role("table")).to_have_count(12)
    expect(page.get_by_role("application")).to_have_count(0)


def exported() -> str:
    cell = nbformat.v4.new_code_cell("1", id="one", outputs=[output(heads()), output(walk())])
    exporter = HTMLExporter(mathjax_url="", require_js_url="")
    return exporter.from_notebook_node(nbformat.v4.new_notebook(cells=[cell]))[0]


class Exported:
    """A page with its scripts, or with them removed as in feedback."""

    def __init__(self, html):
        self.html = html

    def to_html(self, path):
        path.write_text(self.html, encoding="utf-8")
        return path


def test_exported_page_is_interactive_offline(open_page):
    page = open_page(Exported(exported()))
    expect(map_of(page)).to_be_visible()
    before = pixels(page)
    page.get_by_role("button", name="causal", exact=True).click()
    changed(page, before)
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_text("Step 1 of 7: project")).to_be_visible()


def test_the_same_heatmap_twice_in_a_page_is_alive_twice(open_page):
    page = open_page(Exported(2 * heads()._repr_mimebundle_()["text/html"]))
    expect(page.get_by_role("application")).to_have_count(2)


def test_page_without_its_scripts_shows_picture_and_words(open_page):
    html = re.sub(r"<script.*?</script>", "", exported(), flags=re.S)
    page = open_page(Exported(html))
    expect(page.get_by_role("img").first).to_be_visible()
    expect(page.get_by_text("2 heads, 3 tokens")).to_be_visible()
    expect(page.get_by_role("table")).to_have_count(12)
