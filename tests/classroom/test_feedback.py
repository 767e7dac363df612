import pytest
from bs4 import BeautifulSoup
from nbconvert.exporters import HTMLExporter
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from nbgrader.converters import GenerateFeedback
from nbgrader.server_extensions.formgrader.formgrader import FormgradeExtension

from classroom.feedback import DropEmptyComments, name_entries
from classroom.grading.sanitise import alternative_text

SCORES = {"notebook": "mha", "score": 1, "max_score": 2, "late_penalty": 0}


def cell(name, comment=None, grade=False):
    own = {"grade_id": name, "grade": grade, "solution": not grade, "score": 1, "points": 2}
    return new_code_cell("pass", metadata={"nbgrader": own | {"comment": comment}})


@pytest.fixture
def converter(course):
    return GenerateFeedback(coursedir=course.directory, config=course.config)


@pytest.fixture
def exporter(converter):
    return converter.exporter_class(parent=converter, config=converter.config)


@pytest.fixture
def by_hand(course):
    """The formgrader's page of a notebook: the course's settings, above the formgrader's own."""

    def by_hand(**metadata):
        config = FormgradeExtension().build_extra_config()
        config.merge(course.config)
        nb = new_notebook(cells=[new_markdown_cell("$d^2$")], metadata=metadata)
        resources = {"submission_id": "1", "base_url": "", "index": 0, "total": 1}
        return HTMLExporter(config=config).from_notebook_node(nb, resources)[0]

    return by_hand


@pytest.fixture
def page(exporter):
    """What a student gets back for a notebook with a formula and one result."""
    nb = new_notebook(cells=[new_markdown_cell("$d^2$"), cell("test_attend_value", grade=True)])
    return exporter.from_notebook_node(nb, {"nbgrader": SCORES})[0]


def test_results_are_named_after_the_steps(page):
    assert '<a href="#test_attend_value">attend: value</a> (Score: 1.0 / 2.0)' in page


def test_comments_are_named_after_the_steps(exporter):
    nb = new_notebook(cells=[cell("attend", "Well *done*.")])
    html, _ = exporter.from_notebook_node(nb, {"nbgrader": SCORES})
    assert '<a href="#comment-attend">attend: a comment</a>' in html
    assert "Well <em>done</em>." in html


def test_page_runs_and_fetches_nothing(page):
    assert "<script" not in page
    assert "src=" not in page
    assert "@import" not in page


def test_only_pages_of_other_assignments_fetch_mathjax(by_hand):
    assert "https://" not in by_hand(grading={"finished": True})
    assert '<script src="https://' in by_hand()


def test_what_a_human_should_look_at_heads_the_formgraders_page(by_hand):
    page = BeautifulSoup(by_hand(grading={"flags": ["mentions <gc>"]}), "html.parser")
    assert page.select_one(".alert").text == "mentions <gc>"


def test_pictures_have_words_that_run_nothing(exporter):
    words = '4 heads"><script>evil()</script>'
    data = {"image/png": "iVBORw0KGgo=", "text/plain": words}
    picture = new_output("display_data", data, metadata=alternative_text(data))
    nb = new_notebook(cells=[new_code_cell("pass", outputs=[picture])])
    html, _ = exporter.from_notebook_node(nb, {"nbgrader": SCORES})
    assert BeautifulSoup(html, "html.parser").img["alt"] == words
    assert "<script" not in html


def test_formulas_stay_readable(page):
    assert "$d^2$" in page


def test_entries_of_other_cells_keep_their_names():
    entry = '<a href="#essay">Test cell</a> <a href="#test_essay">Test cell</a>'
    assert name_entries(entry) == entry


@pytest.mark.parametrize(
    ("comment", "grade", "kept"),
    [("No response.", False, False), ("No response.", True, True), ("Well done.", False, True)],
)
def test_remarks_on_cells_left_empty_are_dropped(exporter, comment, grade, kept):
    nb = new_notebook(cells=[cell("one_query", comment, grade)])
    resources = {"nbgrader": {"assignment": "small"}}
    nb, _ = DropEmptyComments(parent=exporter)(nb, resources)
    assert nb.cells[0].metadata.nbgrader.get("comment") == (comment if kept else None)
