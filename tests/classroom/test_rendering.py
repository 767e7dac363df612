import sys
import time

import pytest
from bs4 import BeautifulSoup
from nbconvert.exporters import HTMLExporter
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from nbgrader.server_extensions.formgrader import formgrader

from classroom import bounded, rendering
from classroom.rendering import ByHandExporter, plain_notebook, use_in_formgrader

OWN = {"grade_id": "test_double_value", "grade": True, "solution": False, "points": 1}
RESOURCES = {"submission_id": "1", "base_url": "", "index": 0, "total": 1}
FORGED = (
    '<div class="nbgrader_cell"><span id="test_project_value" name="x" data-toggle="modal" '
    'style="position:fixed"></span><div class="full-credit modal-backdrop fade navbar-fixed-top '
    'panel k"></div><label for="test_project_value">x</label><a href="#test_project_value">x</a>'
    "</div>"
)


@pytest.fixture
def page(course):
    """`page(*cells)`: what the formgrader shows of a notebook of ours."""

    def page(*cells, **resources):
        config = formgrader.FormgradeExtension().build_extra_config()
        config.merge(course.config)
        graded = new_code_cell("pass", metadata={"nbgrader": OWN})
        nb = new_notebook(cells=[graded, *cells], metadata={"grading": {"finished": True}})
        exporter = ByHandExporter(config=config)
        html, _ = exporter.from_notebook_node(nb, RESOURCES | resources)
        return BeautifulSoup(html, "html.parser")

    return page


def test_nothing_of_a_students_can_be_taken_for_nbgraders(page):
    display = new_output("display_data", {"text/markdown": FORGED, "text/plain": FORGED})
    shown = page(new_markdown_cell(FORGED), new_code_cell("x", outputs=[display]))
    assert len(shown.select(".full-credit")) == len(shown.select(".score")) == 1
    assert len(shown.select(".nbgrader_cell")) == 1
    assert shown.select("#test_project_value, .modal-backdrop, [data-toggle=modal], label") == []
    assert shown.select(".text_cell [class*=navbar], .text_cell [style], .text_cell a[href]") == []


def test_a_page_that_takes_too_much_is_plain(page, course):
    course.config.Reading.seconds = 1
    shown = page(new_markdown_cell("\\begin{a}" * 10_000))
    assert "takes more than 1 s when it is rendered" in shown.text
    assert shown.select_one("#test_double_value")
    assert "\\begin{a}" in shown.text


def test_a_page_is_plain_whatever_ends_the_child(page, monkeypatch):
    def run(function, *arguments, **options):
        if function.__name__ == "_render":
            raise bounded.Failed("is nested too deeply")
        return function(*arguments)

    monkeypatch.setattr(rendering.bounded, "run", run)
    evil = "<script>evil()</script>"
    display = new_output("display_data", {"text/html": evil, "text/plain": "x" * 20_000})
    error = new_output("error", ename="E", evalue="", traceback=["y" * 20_000] * 100)
    stream = new_output("stream", name="stdout", text="z" * 20_000)
    code = new_code_cell(evil, outputs=[display, error, stream])
    shown = page(code, new_markdown_cell(evil))
    assert "the notebook is nested too deeply when it is rendered" in shown.text
    assert "evil" not in "".join(script.text for script in shown.select("script"))
    assert shown.text.count("x" * 10_000) == shown.text.count("z" * 10_000) == 1


def test_a_plain_notebook_is_short():
    nb = new_notebook(cells=[new_markdown_cell("x" * 20_000) for _ in range(1000)])
    plain = plain_notebook(nb, "why")
    assert len(plain.cells) == 501
    assert {len(cell.source) for cell in plain.cells[1:]} == {10_000}


def test_a_students_name_is_a_text(page):
    shown = page(student='<img src=x onerror="evil()">', notebook_path='"><script>evil()</script>')
    assert shown.select("img, [onerror]") == []
    assert not any("evil" in script.text for script in shown.select("script"))
    assert '<img src=x onerror="evil()">' in shown.text


def test_pictures_that_were_pasted(page):
    png = "iVBORw0KGgo="
    cell = new_markdown_cell("![one](attachment:a%20b.png) ![two](attachment:c.png)")
    cell.attachments = {"a b.png": {"image/png": png}}
    sources = [picture["src"] for picture in page(cell).select("img")]
    assert sources == [f"data:image/png;base64,{png}", "data:image/png;base64,"]


def test_the_formgrader_uses_it_however_it_is_configured(monkeypatch):
    monkeypatch.setattr(formgrader, "HTMLExporter", HTMLExporter)
    use_in_formgrader()
    assert formgrader.HTMLExporter is ByHandExporter
    monkeypatch.delitem(sys.modules, rendering.FORMGRADER)
    use_in_formgrader()


def test_rendering_in_a_child_costs_little(page):
    begun = time.process_time()
    page(new_markdown_cell("x"))
    assert time.process_time() - begun < 5
