"""Questions where they live: in a page of its own, and in JupyterLab with and without a kernel."""

from __future__ import annotations

import nbformat
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from attention_lab.heatmap import page as pages
from attention_lab.learned import seeds
from attention_lab.questions import PREDICTIONS
from attention_lab.quiz import Card, OwnWords, Quiz, predict

QUESTION = PREDICTIONS["scale"]
SEVERAL = Quiz("several", [QUESTION, OwnWords("In a sentence: why?", "Because it is so.")])


class Page:
    """A fragment as a page of its own."""

    def __init__(self, shown):
        self.shown = shown

    def to_html(self, path):
        path.write_text(pages.document(self.shown.to_html(), "Questions"), encoding="utf-8")
        return path


def button(page, right):
    """The first option that is right, or wrong."""
    labels = zip(QUESTION.options, QUESTION.labels, strict=True)
    (label, *_) = (label for option, label in labels if option.right is right)
    return page.get_by_role("button", name=label.replace(")  ", " "), exact=True)


def reply(page):
    return page.locator("section.quiz [aria-live]")


def test_one_question_can_be_tried_again(open_page):
    page = open_page(Page(predict("scale")))
    expect(page.get_by_role("group", name="d_model = 512")).to_be_visible()
    button(page, False).click()
    expect(reply(page)).to_contain_text("✗")
    expect(reply(page)).to_contain_text("Try again.")
    button(page, True).press("Enter")
    expect(reply(page)).to_contain_text("✓")
    expect(button(page, False)).to_be_disabled()


def test_a_question_that_was_missed_comes_again(open_page):
    page = open_page(Page(Card(SEVERAL)))
    button(page, False).click()
    expect(page.get_by_role("button", name="Next question")).to_be_focused()
    page.keyboard.press("Enter")
    page.get_by_role("textbox", name="Your sentence").fill("So it is.")
    page.get_by_role("button", name="Compare").click()
    expect(reply(page)).to_contain_text("Because it is so.")
    page.get_by_role("button", name="Yes").click()
    page.get_by_role("button", name="Next question").click()
    expect(page.get_by_role("group")).to_contain_text("1 of 2 right, 1 to come again")
    button(page, True).click()
    page.get_by_role("button", name="Next question").click()
    expect(page.get_by_text("All answered. 2 of 2 right")).to_be_visible()


def test_a_seed_is_chosen(open_page):
    page = open_page(Page(seeds()))
    expect(page.get_by_role("table")).to_have_count(1)
    page.get_by_label("Start from").select_option("seed 4")
    expect(page.get_by_text("Right answers on new stories, seed 4")).to_be_visible()
    expect(page.get_by_role("table")).to_have_count(1)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("shown", [lambda: predict("scale"), lambda: Card(SEVERAL), seeds])
def test_axe_finds_nothing_and_a_narrow_page_does_not_scroll(open_page, shown, scheme):
    page = open_page(Page(shown()), width=390, color_scheme=scheme)
    results = Axe().run(page)
    assert results.violations_count == 0, results.generate_report()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_without_scripts_questions_and_folded_answers_are_there(open_page):
    page = open_page(Page(Card(SEVERAL)), java_script_enabled=False)
    expect(page.get_by_role("listitem")).to_have_count(4)
    expect(page.get_by_text("Because it is so.")).to_be_hidden()


def test_keys_stay_inside_and_answers_reach_the_panel(jupyter, lab):
    jupyter.write(
        "quiz.ipynb",
        "from attention_lab import progress\nfrom attention_lab.quiz import predict\n"
        "progress.panel()\npredict('scale')",
        "1 + 1",
    )
    page = lab("quiz.ipynb", run=True)
    button(page, True).focus()
    for key in "bbaxdd":
        page.keyboard.press(key)
    expect(page.locator(".jp-Notebook .jp-CodeCell")).to_have_count(2)
    page.keyboard.press("Enter")
    expect(reply(page)).to_contain_text("✓")
    expect(page.get_by_text("Questions: 1 answered, 1 right at the first try.")).to_be_visible()


def test_it_lives_in_a_reopened_notebook(jupyter, lab):
    lost = {
        "application/vnd.jupyter.widget-view+json": {
            "version_major": 2,
            "version_minor": 0,
            "model_id": "lost",
        }
    }
    outputs = [
        nbformat.v4.new_output("display_data", data)
        for data in (lost | {"text/plain": ""}, predict("scale")._repr_mimebundle_())
    ]
    jupyter.write("own-quiz.ipynb", "1", outputs=[outputs], trusted=True)
    page = lab("own-quiz.ipynb", tolerate=["widget model not found"])
    button(page, True).click()
    expect(reply(page)).to_contain_text("✓")
    expect(page.get_by_text("Error displaying widget")).to_be_hidden()
