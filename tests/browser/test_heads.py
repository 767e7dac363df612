"""The living heatmap in a page of its own: mouse, keys, touch, themes, sizes, accessibility."""

from __future__ import annotations

import re

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from attention_lab import explore, show_heads

TOKENS = ["the", "cat", "likes", "the", "other", "cat"]


def weights(H=4, T=6, seed=0):
    scores = np.random.default_rng(seed).normal(0, 2, (H, T, T))
    return np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)


@pytest.fixture
def page(open_page):
    return open_page(show_heads(weights(), TOKENS))


def big(page):
    return page.get_by_role("application").first


def pixels(page):
    return big(page).evaluate("canvas => canvas.toDataURL()")


def radio(page, name):
    return page.get_by_role("radio", name=re.compile(name))


def test_click_chooses_head(page):
    before = pixels(page)
    radio(page, "head 2").click()
    expect(radio(page, "head 2")).to_be_checked()
    expect(page.get_by_role("heading", name="head 2")).to_be_visible()
    assert pixels(page) != before


def test_arrows_choose_head_with_one_tab_stop(page):
    radio(page, "head 0").focus()
    page.keyboard.press("ArrowRight")
    expect(radio(page, "head 1")).to_be_focused()
    expect(radio(page, "head 1")).to_be_checked()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    expect(radio(page, "head 3")).to_be_focused()
    thumbnails = page.get_by_role("radiogroup", name="Head").get_by_role("radio")
    assert thumbnails.evaluate_all("all => all.filter(one => one.tabIndex === 0).length") == 1


def test_arrows_read_every_value_aloud(page):
    given = weights()
    big(page).focus()
    page.keyboard.press("PageUp")
    page.keyboard.press("Home")
    status = page.locator("[aria-live]")
    for k in range(6):
        expect(status).to_contain_text("the₁ looks at")
        said = float(re.search(r": ([\d.]+) in head 0", status.text_content())[1])
        assert said == pytest.approx(given[0, 0, k], abs=1.1e-3)
        page.keyboard.press("ArrowRight")


def test_hover_reads_and_leaving_restores(page):
    side = page.locator(".side")
    before = side.text_content()
    box = big(page).bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(side).not_to_have_text(before)
    page.mouse.move(2, 2)
    expect(side).to_have_text(before)


def test_causal_toggle_masks_and_renormalises(page):
    before = pixels(page)
    toggle = page.get_by_role("button", name="causal", exact=True)
    toggle.click()
    expect(toggle).to_have_attribute("aria-pressed", "true")
    assert pixels(page) != before
    page.get_by_role("button", name="Table").click()
    row = page.get_by_role("table").locator("tbody tr").first
    assert row.text_content() == "the₁1.000" + 5 * "masked"


def test_compare_shows_other_head_and_difference(page):
    page.get_by_label("Compare with").select_option(label="with head 2")
    headings = page.locator("h3:visible").all_text_contents()
    assert [heading.split(" ")[0] for heading in headings] == ["head", "head", "head"]
    radio(page, "head 2").click()
    headings = page.locator("h3:visible").all_text_contents()
    assert headings[2].startswith("head 2 − head 0 difference up to")
    assert headings[0].startswith("head 2")
    assert headings[1].startswith("head 0")


@pytest.mark.parametrize("width", [1000, 360])
def test_the_comparison_chosen_is_read_in_full(open_page, width):
    named = {"yours": weights(), "view straight away": weights(seed=1)}
    page = open_page(show_heads(named, TOKENS, compare="view straight away"), width=width)
    menu = page.get_by_label("Compare with")
    expect(menu).to_be_visible()
    cut, free = menu.evaluate(
        "menu => [menu.offsetWidth, (menu.style.maxWidth = 'none', menu.offsetWidth)]"
    )
    assert cut == free


WRITTEN = """() => {
  const write = CanvasRenderingContext2D.prototype.fillText;
  window.written = [];
  CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
    const end = x + this.measureText(text).width, width = parseFloat(this.canvas.style.width);
    window.written.push([text, end <= width]);
    write.call(this, text, x, y);
  };
}"""


def test_a_wrong_sum_is_said_to_be_no_one(open_page):
    page = open_page(show_heads(weights() * np.array([0.01, 1, 0.998, 0.5, 1, 1])[:, None], TOKENS))
    page.evaluate(WRITTEN)
    radio(page, "head 2").click()
    sums = {(text, fits) for text, fits in page.evaluate("written") if "≠" in text}
    assert sums == {("0.01 ≠ 1", True), ("0.998 ≠ 1", True), ("0.50 ≠ 1", True)}


def test_one_key_that_has_no_bar_is_one_key(open_page):
    page = open_page(show_heads(weights(T=17)))
    expect(page.get_by_text("1 more key:")).to_be_visible()


def test_compare_variants_says_when_nothing_differs(open_page):
    page = open_page(
        show_heads({"yours": weights(), "PyTorch": weights()}, TOKENS, compare="PyTorch")
    )
    expect(page.get_by_role("heading", name="yours − PyTorch no difference")).to_be_visible()
    expect(page.get_by_role("heading", name="head 0, PyTorch")).to_be_visible()


@pytest.mark.parametrize(("H", "T"), [(8, 8), (12, 32), (12, 128)])
def test_every_value_is_read_within_half_a_percent_or_a_thousandth(open_page, H, T):
    page = open_page(show_heads(weights(H, T)))
    radio(page, "head 3").click()
    page.get_by_role("button", name="Table").click()
    cells = page.locator(".numbers td").all_text_contents()
    read = np.array([float(cell) for cell in cells if cell])
    given = weights(H, T)[3].ravel()
    assert (np.abs(read - given) <= np.maximum(0.005 * given, 0.001) + 1e-12).all()


def test_png_download(page, tmp_path):
    with page.expect_download() as download:
        page.get_by_role("button", name="PNG").click()
    download.value.save_as(tmp_path / "head.png")
    assert download.value.suggested_filename == "head-0.png"
    assert (tmp_path / "head.png").read_bytes().startswith(b"\x89PNG")


def test_batch_chooser_and_unequal_lengths(open_page):
    given = np.stack([weights(3, 4)[:, :, :2], weights(3, 4, seed=1)[:, :, :2]])
    given /= given.sum(-1, keepdims=True)
    page = open_page(show_heads(given, (TOKENS[:4], ["le", "chat"])))
    before = pixels(page)
    page.get_by_role("slider", name="batch").press("ArrowRight")
    assert pixels(page) != before


def test_explore_works_without_a_kernel(open_page):
    def fn(tokens, temperature=1.0):
        return np.tile(np.eye(len(tokens)), (2, 1, 1)) * (temperature < 2) + 1 / len(tokens) * (
            temperature >= 2
        )

    page = open_page(explore(fn, TOKENS))
    before = pixels(page)
    slider = page.get_by_role("slider", name="temperature")
    expect(slider).to_have_attribute("aria-valuetext", "1")
    slider.press("End")
    expect(slider).to_have_attribute("aria-valuetext", "4")
    assert pixels(page) != before


def test_banner_names_what_is_wrong(open_page):
    page = open_page(show_heads(weights().swapaxes(-1, -2), TOKENS))
    expect(page.get_by_role("note")).to_contain_text("softmax ran over the queries")


def test_tokens_are_text_never_markup(open_page):
    evil = "</script><img src=x onerror=alert(1)>"
    page = open_page(show_heads(weights(2, 2), [evil, "`${1}`"]))
    page.get_by_role("button", name="Table").click()
    expect(page.get_by_role("columnheader", name=evil.replace(" ", "␣"))).to_be_visible()


def test_touch_picks_a_cell(open_page):
    page = open_page(show_heads(weights(), TOKENS), width=390, has_touch=True, is_mobile=True)
    side = page.locator(".side")
    before = side.text_content()
    big(page).tap()
    expect(side).not_to_have_text(before)


@pytest.mark.parametrize(("H", "T"), [(4, 6), (12, 28), (12, 128), (1, 1), (64, 8)])
def test_fits_a_narrow_page_and_follows_a_resize(open_page, H, T):
    page = open_page(show_heads(weights(H, T)), width=1000)
    wide = big(page).evaluate("canvas => canvas.clientWidth")
    page.set_viewport_size({"width": 390, "height": 800})
    page.wait_for_function("document.documentElement.scrollWidth <= 390")
    narrow = big(page).bounding_box()
    assert narrow["x"] + narrow["width"] <= 390
    page.set_viewport_size({"width": 1000, "height": 800})
    expect(big(page)).to_have_js_property("clientWidth", wide)


def test_themes_are_followed_live(page):
    root = page.locator("section.heads")
    expect(root).to_have_attribute("data-theme", "light")
    page.emulate_media(color_scheme="dark")
    expect(root).to_have_attribute("data-theme", "dark")
    page.evaluate("document.body.style.background = 'white'")
    expect(root).to_have_attribute("data-theme", "light")
    page.emulate_media(forced_colors="active")
    expect(root).to_have_attribute("data-theme", "forced")


def test_nothing_moves_by_itself(page):
    css = page.locator("style").first.evaluate(
        "() => document.querySelector('[data-heads]').shadowRoot.querySelector('style').textContent"
    )
    assert "transition" not in css
    assert "animation" not in css


def test_without_scripts_picture_and_words(open_page):
    page = open_page(show_heads(weights(), TOKENS), java_script_enabled=False)
    expect(page.get_by_role("img")).to_be_visible()
    expect(page.get_by_text("4 heads, 6 tokens")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("compared", [None, 1])
def test_axe_finds_nothing(open_page, scheme, compared):
    given = weights() * 1.1  # with a banner
    page = open_page(show_heads(given, TOKENS, compare=compared), color_scheme=scheme)
    page.get_by_role("button", name="Table").click()
    results = Axe().run(page)
    assert results.violations_count == 0, results.generate_report()
