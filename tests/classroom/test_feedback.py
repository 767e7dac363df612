import pytest
from bs4 import BeautifulSoup
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from nbgrader.converters import GenerateFeedback
from nbgrader.server_extensions.formgrader.formgrader import FormgradeExtension

from classroom.feedback import DropEmptyComments, HideHiddenTests, losses, results
from classroom.grading.sanitise import alternative_text
from classroom.rendering import ByHandExporter

SCORES = {"notebook": "mha", "score": 1, "max_score": 2, "late_penalty": 0}
TOLD = """\
\x1b[31m✗ attend: with 3 heads, it gave
  zeros.
  Means: the mask comes
         too late.
  Look:  before softmax.
  Where: line 3: `a`"""
HIDDEN = "check()\n### BEGIN HIDDEN TESTS\nassert secret(4) == 8\n### END HIDDEN TESTS\nlast()"


def cell(name, comment=None, grade=False, score=1, error=None, source="pass"):
    own = {"grade_id": name, "grade": grade, "solution": not grade, "score": score, "points": 2}
    outputs = [new_output("error", **error)] if error else []
    metadata = {"nbgrader": own | {"comment": comment}}
    return new_code_cell(source, metadata=metadata, outputs=outputs)


def mistake(told=TOLD, ename="Mistake", evalue="attend: ..."):
    return {"ename": ename, "evalue": evalue, "traceback": [told]}


@pytest.fixture
def converter(course):
    return GenerateFeedback(coursedir=course.directory, config=course.config)


@pytest.fixture
def exporter(converter):
    return converter.exporter_class(parent=converter, config=converter.config)


@pytest.fixture
def by_hand(course):
    """The formgrader's page of a notebook: the course's settings, above the formgrader's own."""

    def by_hand(*cells, **metadata):
        config = FormgradeExtension().build_extra_config()
        config.merge(course.config)
        nb = new_notebook(cells=[new_markdown_cell("$d^2$"), *cells], metadata=metadata)
        resources = {"submission_id": "1", "base_url": "", "index": 0, "total": 1}
        return ByHandExporter(config=config).from_notebook_node(nb, resources)[0]

    return by_hand


@pytest.fixture
def render(exporter):
    """The page that a student gets back for some cells."""

    def render(*cells, **names):
        nb = new_notebook(cells=list(cells))
        html, _ = exporter.from_notebook_node(nb, {"nbgrader": SCORES | names})
        return BeautifulSoup(html, "html.parser")

    return render


@pytest.fixture
def page(exporter):
    """What a student gets back for a notebook with a formula and one result."""
    nb = new_notebook(cells=[new_markdown_cell("$d^2$"), cell("test_attend_value", grade=True)])
    return exporter.from_notebook_node(nb, {"nbgrader": SCORES})[0]


def test_results_are_named_after_the_steps(page):
    assert '<a href="#test_attend_value">attend: value</a> (Score: 1.0 / 2.0)' in page


def test_comments_are_named_after_the_steps(render):
    page = render(cell("attend", "Well *done*."))
    assert page.select_one("#toc a[href='#comment-attend']").text == "attend: a comment"
    assert page.select_one("#comment-attend").em.text == "done"


def test_what_lost_points_comes_first_with_its_message(render):
    right = cell("test_project_value", grade=True, score=2)
    page = render(right, cell("test_attend_value", grade=True, score=0, error=mistake()))
    [lost] = page.select("#lost article")
    assert lost.h3.a["href"] == "#test_attend_value"
    assert [line.text for line in lost.select("p")] == [
        "attend: with 3 heads, it gave zeros.",
        "Means: the mask comes too late.",
        "Look: before softmax.",
        "Where: line 3: `a`",
    ]
    assert [part.get("id") for part in page.body.find_all(recursive=False)[:3]] == [
        "top", "lost", "toc"
    ]  # fmt: skip
    assert page.select_one("#notebook #test_attend_value")


def test_who_lost_nothing_is_told_of_no_losses(render):
    assert not render(cell("test_attend_value", grade=True, score=2)).select("#lost")


@pytest.mark.parametrize(("score", "state"), [(0, "none"), (0.5, "part"), (2, "full"), (3, "full")])
def test_points_lost_look_lost(render, score, state):
    page = render(cell("test_attend_value", grade=True, score=score))
    assert page.select_one("#toc li")["class"] == [state]
    mark = page.select_one("#notebook .mark")
    assert state in mark["class"]
    assert mark.text.split()[0] == {"none": "✗", "part": "◐", "full": "✓"}[state]


def test_dates_are_said(render):
    page = render(dates="Handed in <late>, due early.")
    assert page.select_one(".dates").text == "Handed in <late>, due early."
    assert render().select_one(".dates") is None


def test_a_late_penalty_is_said(render):
    page = render(late_penalty=3)
    assert page.select_one(".late-penalty").text == "Late submission penalty (Score: -3.0)"


def test_results_of_a_step_that_say_the_same_stand_together():
    shape = cell("test_attend_shape", grade=True, score=0, error=mistake())
    value = cell("test_attend_value", grade=True, score=0, error=mistake())
    other = cell("test_merge_value", grade=True, score=0, error=mistake())
    groups = losses(results([shape, value, other]))
    assert [[result.name for result in group] for group in groups] == [
        ["attend: shape", "attend: value"],
        ["merge: value"],
    ]


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (None, ()),
        (mistake("long\ntraceback", "ValueError", "no\ngood"), (("", "ValueError: no\ngood"),)),
        (mistake("long", "AssertionError", ""), (("", "AssertionError"),)),
    ],
)
def test_the_message_of_any_error(error, message):
    [result] = results([cell("essay", grade=True, score=0, error=error)])
    assert (result.name, result.message) == ("essay", message)


def test_texts_of_students_are_no_html(render):
    evil = mistake("x", "<script>", "<img src=x onerror=alert(1)>")
    page = render(cell("test_attend_value", grade=True, score=0, error=evil))
    assert not page.select("script, img")
    assert "<script>: <img" in page.select_one("#lost p").text


def test_page_fits_a_phone_and_a_few_sheets(page):
    head = BeautifulSoup(page, "html.parser").head
    assert head.select_one("meta[name=viewport]")["content"].startswith("width=device-width")
    assert "@media print" in page
    assert len(page) < 20_000  # without a notebook in it


# --- hidden tests ---


def hidden(**error):
    told = error.pop("told", "----> 3 \x1b[31massert secret(4) == 8\nAssertionError: look at 4")
    error = mistake(told, "AssertionError", error.get("evalue", "look at 4"))
    return cell("test_attend_value", grade=True, score=0, source=HIDDEN, error=error)


def hide(*cells, **metadata):
    nb = new_notebook(cells=list(cells), metadata={"grading": {}} | metadata)
    return HideHiddenTests().preprocess(nb, {})[0].cells


def test_hidden_tests_are_left_out_with_their_markers():
    assert [cell.source for cell in hide(hidden())] == ["check()\nlast()"]


@pytest.mark.parametrize(
    ("error", "told"),
    [
        ({}, "AssertionError: look at 4"),
        ({"evalue": ""}, "AssertionError: a hidden test fails"),
        ({"told": "----> 1 check()\nMistake"}, "----> 1 check()\nMistake"),
    ],
)
def test_errors_do_not_show_them_either(error, told):
    [cell] = hide(hidden(**error))
    assert cell.outputs[0].traceback == [told]


def test_markers_in_an_answer_are_its_own():
    answer = cell("attend", source=HIDDEN)
    assert hide(answer)[0].source == HIDDEN


def test_no_page_of_ours_shows_them(exporter, by_hand):
    given = hidden()
    nb = new_notebook(cells=[given], metadata={"grading": {}})
    html, _ = exporter.from_notebook_node(nb, {"nbgrader": SCORES})
    for page in (html, by_hand(hidden(), grading={})):
        assert "secret" not in page
        assert "look at 4" in page
    assert given.source == HIDDEN, "the notebook keeps them"
    assert "secret" in by_hand(hidden()), "the page of another assignment stays nbgrader's"


# --- the pages as wholes ---


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


@pytest.mark.parametrize(
    ("comment", "grade", "kept"),
    [("No response.", False, False), ("No response.", True, True), ("Well done.", False, True)],
)
def test_remarks_on_cells_left_empty_are_dropped(exporter, comment, grade, kept):
    nb = new_notebook(cells=[cell("one_query", comment, grade)])
    resources = {"nbgrader": {"assignment": "small"}}
    nb, _ = DropEmptyComments(parent=exporter)(nb, resources)
    assert nb.cells[0].metadata.nbgrader.get("comment") == (comment if kept else None)
