import re

import pytest

from classroom.class_report.page import render
from classroom.class_report.reading import GradedClass, Submission

VIEW = "view-instead-of-transpose"


@pytest.fixture
def page(graded):
    students = [{"split_heads": [VIEW]}] * 3 + [{}] * 5
    return lambda **options: render(
        graded(*students, notes=("mentions gc",), ungraded={"eve": "wrong: move eve/x"}), **options
    )


def test_what_a_lecturer_wants_to_see_comes_first(page):
    text = re.sub(r"(<[^>]+>|\n| )+", " ", page())
    assert "38\u202f% split_heads view instead of transpose (3 of 8) view straight to" in text


def test_nobody_is_named(page):
    assert "student-" not in page()
    assert "eve" not in re.sub(r"<style>.*?</style>|never|level", "", page(), flags=re.DOTALL)
    assert "8 submissions" in page()


def test_everybody_concerned_is_named_if_asked(page):
    assert "8 submissions: student-1, student-2" in page(names=True)
    assert "wrong: move eve/x" in page(names=True)


def test_it_fetches_nothing_and_runs_nothing(page):
    assert not re.search(r"<script|<link|<img|\bsrc=|\bhref=|url\(|@import|http:|https:", page())
    assert "default-src 'none'" in page()


def test_what_strangers_wrote_is_text(graded):
    evil = "<script>alert(1)</script>"
    step = {"<b>": 1.0}
    submission = Submission(evil, {"<b>": 0.0}, 0.0, {"<b>": ["<i>"]}, {}, (evil,))
    page = render(GradedClass(evil, step, [submission], {evil: evil}), names=True)
    assert not re.search(r"<(script|b|i)>(alert|</|<wbr>)", page)
    assert "&lt;script&gt;" in page


@pytest.mark.parametrize("students", [[], [{}], [{"attend": None}]])
def test_small_classes_have_a_page(graded, students):
    assert "</html>" in render(graded(*students))


def test_shading_grows_with_the_number(graded):
    students = [{"split_heads": ["common"]}] * 10 + [{"attend": ["rare"]}]
    page = render(graded(*students))
    assert '<td class="heat-5">10</td>' in page
    assert '<td class="heat-1">1</td>' in page
    assert '<td class="heat-0"></td>' in page
