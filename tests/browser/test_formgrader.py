"""A teaching assistant in nbgrader's formgrader: from the list of submissions to what goes back."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_raw_cell
from playwright.sync_api import expect

ROOT = Path(__file__).parents[2]
NOTEBOOK = "multi_head_attention"
KEPT = ("setup", "one-head-two-jobs", "split-exercise", "split_heads",
        "test_split_heads_shape", "test_split_heads_value")  # fmt: skip
VIEWED = """\
def split_heads(x, num_heads):
    B, T, d_model = x.shape
    return x.view(B, num_heads, T, d_model // num_heads)
"""
RUN = "window.evil=1"
EVIL = f"""\
<script>{RUN}</script><img src="x" onerror="{RUN}"><svg onload="{RUN}"></svg>
<iframe srcdoc="<script>parent.evil=1</script>"></iframe><a href="javascript:{RUN}">a link</a>
<details open ontoggle="{RUN}"><summary>more</summary>of it</details>

[another](javascript:{RUN}) $\\href{{javascript:{RUN}}}{{x}}$
"""
DISPLAY = f"""\
from IPython.display import HTML, Javascript, Markdown, display
display(HTML({EVIL!r}), Markdown({EVIL!r}), Javascript({RUN!r}))
print("</pre><script>{RUN}</script>")
"""
SETTINGS = """\
from classroom import configure
c = get_config()
configure(c)
c.Grading.workers = 1
c.CourseDirectory.course_id = "attention"
c.Exchange.root = "exchange"
"""


@pytest.fixture
def course(tmp_path):
    """A course with the second step alone, and in it a wrong and hostile submission of ada's, as
    nbgrader collects it."""
    lesson = nbformat.read(ROOT / "source" / "mha" / f"{NOTEBOOK}.ipynb", as_version=4)
    lesson.cells = [cell for cell in lesson.cells if cell.id in KEPT]
    course = tmp_path / "course"
    submitted = course / "submitted" / "ada" / "mha"
    for folder in (course / "source" / "mha", course / "exchange", submitted):
        folder.mkdir(parents=True)
    (course / "exchange").chmod(0o777)
    (course / "nbgrader_config.py").write_text(SETTINGS)
    nbformat.write(lesson, course / "source" / "mha" / f"{NOTEBOOK}.ipynb")
    lesson.cells[KEPT.index("split_heads")].source = VIEWED
    lesson.cells += [new_markdown_cell(EVIL), new_raw_cell(EVIL), new_code_cell(DISPLAY)]
    nbformat.write(lesson, submitted / f"{NOTEBOOK}.ipynb")
    (submitted / "timestamp.txt").write_text("2026-11-29 20:15:00.000000 UTC")
    (submitted / "submission_secret.txt").write_text("secret")
    return course


@pytest.fixture
def jupyter(serve, course, tmp_path):
    with serve(course, tmp_path / "home") as jupyter:
        yield jupyter


@pytest.fixture
def page(jupyter, jupyter_page):
    return jupyter_page(jupyter.url)


def click(page, what):
    """Click one of the buttons behind ada's name, and wait for what nbgrader says."""
    page.locator(f"#main-table td.{what} a").click()
    said = page.locator(".modal-body")
    expect(said).to_contain_text("Log Output", timeout=200_000)
    expect(said).to_contain_text("Successfully")
    page.locator(".modal-footer button").click()
    expect(said).to_have_count(0)


def nbgrader(course, *command):
    done = subprocess.run(
        [sys.executable, "-m", "nbgrader", *command],
        cwd=course, check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout


def assert_harmless(page):
    """Nothing of the hostile cells runs, whether or not it is touched."""
    notebook = page.locator("#notebook")
    for element in ("script", "iframe", "svg", "[onerror], [ontoggle], [onload]"):
        expect(notebook.locator(element)).to_have_count(0)
    page.get_by_text("a link", exact=True).first.click()
    page.get_by_text("another", exact=True).first.click()
    assert page.evaluate("window.evil") is None


def test_a_term_in_the_formgrader(page, jupyter, course):
    # From the menu of JupyterLab to the list of submissions.
    page.goto(f"{jupyter.url}/lab?token={jupyter.token}&reset")
    page.get_by_role("menuitem", name="Nbgrader").click(timeout=60_000)
    page.locator(".lm-Menu-itemLabel").get_by_text("Formgrader", exact=True).click()
    expect(page.frame_locator("iframe").get_by_role("link", name="mha")).to_be_visible(
        timeout=30_000
    )
    page.goto(f"{jupyter.url}/formgrader/manage_submissions/mha")
    click(page, "autograde")

    # The submission: what was met is said, heatmaps are pictures, and nothing of it runs.
    page.goto(f"{jupyter.url}/formgrader/gradebook/mha/{NOTEBOOK}")
    page.get_by_role("link", name="Submission #1").click()
    expect(page.get_by_text("`view` straight to (B, H, T, d_head)")).to_be_visible()
    expect(page.locator(".output_png img[alt^='Two jobs in one head']")).to_be_visible()
    assert_harmless(page)

    # Points and a comment by hand. Escape saves, as nbgrader promises.
    points, comment = page.locator("#test_split_heads_value"), page.locator("#split_heads-comment")
    expect(points).to_have_attribute("placeholder", "0")
    for field, text in ((points, "1.5"), (comment, "Nearly: **swap** two axes.")):
        field.fill(text)
        with page.expect_response(lambda answer: answer.request.method == "PUT"):
            field.press("Escape")
        expect(field).not_to_be_focused()
    expect(page.locator(".score.needs_manual_grade")).to_have_count(0)

    # Graded again, they stay and are to be looked at; then what came of it goes back.
    address = page.url
    page.goto(f"{jupyter.url}/formgrader/manage_submissions/mha")
    click(page, "autograde")
    page.goto(address)
    expect(points).to_have_value("1.5")
    expect(comment).to_have_value("Nearly: **swap** two axes.")
    cell = page.locator(".nbgrader_cell", has=points)
    with page.expect_response(lambda answer: answer.request.method == "PUT"):
        cell.get_by_role("button", name="Resolve").click()
    page.goto(f"{jupyter.url}/formgrader/manage_submissions/mha")
    click(page, "generate-feedback")
    click(page, "release-feedback")

    feedback = course / "feedback" / "ada" / "mha" / f"{NOTEBOOK}.html"
    [released] = (course / "exchange" / "attention" / "feedback").iterdir()
    assert released.read_bytes() == feedback.read_bytes()
    page.goto(released.as_uri())
    for entry, score in (("shape", "(Score: 1.0 / 1.0)"), ("value", "(Score: 1.5 / 2.0)")):
        expect(page.locator("#toc li", has_text=f"split_heads: {entry}")).to_contain_text(score)
    page.get_by_role("link", name="split_heads: a comment").click()
    expect(page.get_by_text("Nearly: swap two axes.")).to_be_in_viewport()
    expect(page.locator(".output_png img[alt^='Two jobs in one head']")).to_be_visible()
    assert_harmless(page)

    nbgrader(course, "export", "--exporter=classroom.export.StepsExporter")
    with (course / "steps.csv").open(newline="", encoding="utf-8-sig") as file:
        heading, _, ada = csv.reader(file)
    assert ada[heading.index("mha test_split_heads_value")] == "1.5"
    assert ada[heading.index("mha total")] == "2.5"
    assert ada[heading.index("mha needs a human")] == ""
