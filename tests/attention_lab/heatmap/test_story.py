import re

import numpy as np

from attention_lab.heatmap.story import Grid, Step, number, story_html, story_text

GRID = Grid(
    "q <1>",
    ["a", "b"],
    ["0", "1"],
    np.array([[0.5, -2.0], [-np.inf, np.nan]]),
    [["a·0", "b·1"], ["", ""]],
    strong=np.array([[True, False], [False, False]]),
    wrong=np.array([[False, True], [False, False]]),
)
STEPS = [
    Step("split", "Cut.", [GRID], "Beside it", [GRID], warning="not <so>"),
    Step("merge", "Glue."),
]


def cells(html):
    return re.findall(r"<td(.*?)>(.*?)</td>", html.split("<tbody>")[1].split("</tbody>")[0])


def test_a_cell_says_its_number_origin_and_part():
    first, second, closed, empty = cells(story_html(STEPS))
    assert first == (' class="strong" style="--a:0.25"', "<small>a·0</small> 0.50")
    assert second == (' class="less wrong" style="--a:1.00"', "<small>≠ b·1</small> −2.00")
    assert closed == (' class="closed"', "−∞")
    assert empty == ("", "")


def test_steps_are_a_list_with_tables_on_demand_and_no_markup_from_outside():
    html = story_html(STEPS)
    assert html.count("<li>") == 2
    assert "<caption>q &lt;1&gt;</caption>" in html
    assert '<p role="note">⚠ not &lt;so&gt;</p>' in html
    assert html.count("<details><summary>Beside it</summary>") == 1


def test_steps_in_words():
    assert story_text(STEPS) == "0. split: Cut.\n1. merge: Glue."


def test_numbers_have_a_true_minus_and_no_negative_zero():
    assert [number(value) for value in (-1.5, -0.001, 2)] == ["−1.50", "0.00", "2.00"]


def test_origins_are_optional():
    bare = Grid("", ["a"], ["0"], np.array([[1.0]]))
    assert (bare.origin(0, 0), bare.is_strong(0, 0), bare.is_wrong(0, 0)) == ("", False, False)
    assert bare.scale == 1
