import re
from base64 import b64decode
from datetime import date
from html.parser import HTMLParser

import pytest

from attention_lab.progress.exercises import Exercise
from attention_lab.progress.page import Page, Summary
from attention_lab.progress.record import Record, Result, Review

EXERCISES = {
    "split_heads": Exercise("split_heads", "...", {"shape": 1, "value": 2}),
    "attend": Exercise("attend", "...", {"shape": 1, "value": 1}),
    "stretch": Exercise("stretch", "...", {}),
}
VIEWED = Review("view-straight", "`view` <moves> nothing.", "the strides.")
UNNAMED = Review(None, "The sum is not right.", "one number by hand.")


class Today(date):
    @classmethod
    def today(cls):
        return cls(2026, 3, 1)


@pytest.fixture
def today(monkeypatch):
    monkeypatch.setattr("attention_lab.progress.page.date", Today)
    return "2026-03-01"


def page(results=None, reviews=None, kept=""):
    return Page(EXERCISES, Record(results or {}, reviews or {}), kept)


def result(passed=True, hidden=False):
    return Result(passed, hidden)


def test_at_first_nothing_is_tried():
    assert page().points == 0
    assert page().headline == "0 of 5 points so far, nothing passes yet."
    assert repr(page()).splitlines()[3].split() == ["split_heads", "–", "–", "0", "of", "3"]


def test_points_are_those_of_the_aspects_that_pass():
    results = {"split_heads": {"shape": result(False), "value": result()}, "stretch": {}}
    assert page(results).points == 2
    shown = repr(page(results))
    assert re.search(r"split_heads +✗ not yet +✓ right +2 of 3", shown)
    assert "stretch" not in shown


def test_what_fails_says_nothing_of_hidden_checks():
    assert "nothing passes yet" in page({"attend": {"shape": result(False)}}).headline


@pytest.mark.parametrize(
    ("hidden", "words"),
    [([True, True], "by all checks"), ([True, False], "Grading has hidden ones as well")],
)
def test_it_says_whether_hidden_checks_remain(hidden, words):
    first, second = (result(hidden=each) for each in hidden)
    assert words in page({"split_heads": {"shape": first, "value": second}}).headline


def test_a_named_mistake_that_is_fixed_is_folded_away():
    passing = {"split_heads": {"shape": result(), "value": result()}}
    fixed = page(passing, {"split_heads": [VIEWED, UNNAMED]})
    assert fixed.to_review == []
    assert fixed.fixed == [("split_heads", VIEWED)]
    assert "To review" not in repr(fixed) + fixed._repr_html_()
    assert repr(fixed).endswith(
        "Fixed on the way, and what each taught\n  split_heads: `view` <moves> nothing."
    )
    folded = fixed._repr_html_().split("<details>")[1]
    assert "<code>view</code> &lt;moves&gt; nothing." in folded.split("</details>")[0]


def test_the_last_mistake_of_a_step_that_fails_is_to_be_reviewed():
    failing = {"split_heads": {"value": result(False)}}
    reviews = {"split_heads": [VIEWED, UNNAMED], "attend": [UNNAMED, VIEWED]}
    both = page(failing, reviews)
    assert both.to_review == [("split_heads", UNNAMED)]
    assert both.fixed == [("split_heads", VIEWED), ("attend", VIEWED)]
    assert "  split_heads: The sum is not right. Look: one number by hand." in repr(both)
    assert repr(both).endswith(
        "  split_heads: `view` <moves> nothing.\n  attend: `view` <moves> nothing."
    )
    html = both._repr_html_()
    assert html.index("To review") < html.index("The sum is not right.") < html.index("<details>")


def test_answers_are_counted():
    answered = Page(EXERCISES, Record(answers={"scale/0": True, "recall/1": False}))
    told = "Questions: 2 answered, 1 right at the first try."
    assert repr(answered).endswith(told)
    assert told in answered._repr_html_()
    assert "Questions" not in page()._repr_html_()


class Tags(HTMLParser):
    """The tags of a page that are open, and those met."""

    def __init__(self):
        super().__init__()
        self.open, self.met = [], []

    def handle_starttag(self, tag, attrs):
        self.met.append((tag, dict(attrs)))
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def read(html):
    tags = Tags()
    tags.feed(html)
    assert tags.open == []
    return tags.met


def test_the_table_can_be_read_by_any_reader():
    full = page({"attend": {"shape": result()}}, {"split_heads": [VIEWED]}, kept="Kept here.")
    html = full._repr_html_()
    met = read(html)
    scopes = [attributes["scope"] for tag, attributes in met if tag == "th"]
    assert scopes == ["col"] * 4 + ["row"] * 2
    assert f"{full.headline}</caption>" in html
    assert "<code>view</code> &lt;moves&gt; nothing." in html
    assert "Kept here." in html
    assert "script" not in {tag for tag, _ in met}


def test_a_summary_shows_the_page_and_carries_it_as_a_file(today):
    summary = Summary(page({"attend": {"shape": result()}}, kept="Kept here."))
    (link,) = (attributes for tag, attributes in read(summary._repr_html_()) if tag == "a")
    assert link["download"].endswith(".html")
    file = b64decode(link["href"].removeprefix("data:text/html;base64,")).decode()
    assert file == summary.to_html()
    assert [tag for tag, _ in read(file)].count("h1") == 1
    assert today in file
    assert "Kept" not in file
    assert "1 of 5 points" in file


def test_a_summary_is_plain_text_as_well(today):
    text = str(Summary(page()))
    assert text.startswith(today)
    assert "0 of 5 points so far" in text
