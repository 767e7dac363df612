"""The page about a class: accessible, quiet, readable on a phone and on paper."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

import bank
from classroom.class_report.page import render
from classroom.class_report.reading import GradedClass, Submission

MAXIMUM = {
    "project": 2.0, "split_heads": 3.0, "attention_scores": 3.0, "causal_mask": 3.0,
    "masked_softmax": 3.0, "attend": 2.0, "merge_heads": 3.0, "MultiHeadAttention": 5.0,
}  # fmt: skip


ANSWERS = {step: bank.load(step) for step in MAXIMUM}


def student(number: int, generator: random.Random) -> Submission:
    """Somebody who took any of the bank's answers to each step."""
    cases = {step: generator.choice(ANSWERS[step]) for step in MAXIMUM}
    mistakes = {step: [case.KIND] for step, case in cases.items() if case.VERDICT == "wrong"}
    points = {step: full - (step in mistakes) for step, full in MAXIMUM.items()}
    answers = {step: case.CODE for step, case in cases.items()}
    notes = ("mentions scaled_dot_product_attention",) if number % 9 == 0 else ()
    return Submission(f"s{number}", points, sum(points.values()), mistakes, answers, notes)


@dataclass(frozen=True)
class Page:
    graded: GradedClass
    names: bool = False

    def to_html(self, path: Path) -> Path:
        path.write_text(render(self.graded, names=self.names), encoding="utf-8")
        return path


@pytest.fixture(scope="module")
def graded():
    """Forty students; one handed in what another had."""
    generator = random.Random(1)
    students = [student(number, generator) for number in range(39)]
    copy = Submission("copy", *[getattr(students[3], name) for name in (
        "points", "total", "mistakes", "answers")])  # fmt: skip
    return GradedClass("mha", MAXIMUM, [*students, copy], {"eve": "the folder is empty"})


@pytest.mark.parametrize(("scheme", "names"), [("light", False), ("dark", True)])
def test_axe_finds_nothing(open_page, graded, scheme, names):
    page = open_page(Page(graded, names), color_scheme=scheme)
    assert Axe().run(page).response["violations"] == []


def test_what_is_shown(open_page, graded):
    page = open_page(Page(graded))
    expect(page.get_by_role("heading", level=2)).to_have_count(6)
    heat = page.get_by_role("table", name="Number of submissions")
    assert heat.get_by_role("columnheader").count() == len(MAXIMUM) + 2
    (row,) = page.get_by_role("rowheader", name="2 submissions", exact=True).all()
    expect(row.locator("xpath=..")).to_contain_text("8 of 8 steps")


@pytest.mark.parametrize("width", [360, 800, 1400])
def test_nothing_sticks_out(open_page, graded, width):
    page = open_page(Page(graded), width=width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_paper_is_white_and_wide_enough(open_page, graded):
    page = open_page(Page(graded), width=720, color_scheme="dark")
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.evaluate("document.documentElement.scrollWidth") <= 720
