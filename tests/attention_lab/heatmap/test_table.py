import numpy as np

from attention_lab.heatmap.table import Table

TABLE = Table(
    "head 1",
    ["<b>", "cat"],
    ["<b>", "cat"],
    np.array([[1.0, np.nan], [0.25, 0.75]]),
    np.array([[False, True], [False, False]]),
)


def test_cells_are_numbers_or_masked():
    assert TABLE.cells == [["1.000", "masked"], ["0.250", "0.750"]]


def test_text_is_in_columns():
    assert repr(TABLE).splitlines() == [
        "head 1",
        "       <b>     cat",
        "<b>  1.000  masked",
        "cat  0.250   0.750",
    ]


def test_html_has_headers_for_both_axes_and_no_markup_of_tokens():
    html = TABLE._repr_html_()
    assert html.startswith("<table><caption>head 1</caption>")
    assert html.count('<th scope="row">') == 2
    assert html.count('<th scope="col">') == 3
    assert "&lt;b&gt;" in html
    assert "<b>" not in html


def test_a_number_that_is_none_reads_as_nan():
    broken = Table("", ["a"], ["a"], np.array([[np.nan]]), np.array([[False]]))
    assert broken.cells == [["nan"]]
