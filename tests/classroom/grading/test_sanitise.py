import base64
import re
from html.parser import HTMLParser

import nbformat
import pytest
from nbconvert.exporters import HTMLExporter
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output, new_raw_cell

from classroom.grading.sanitise import HarmlessOutputs, clean, harmless_bundle, markdown2html

PNG = base64.b64encode(b"\x89PNG").decode()
LIVE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)></svg>",
    "<a href='javascript:alert(1)'>x</a>",
    "<a href='data:text/html,<script>alert(1)</script>'>x</a>",
    "<iframe src='https://example.org'></iframe>",
    "<form action='https://example.org'><button>x</button></form>",
    "<img src='https://example.org/alert.png'>",
    "<style>@import 'https://example.org/alert.css'</style>",
    "<div style='background: url(https://example.org/alert.png)'>x</div>",
    "<math><a xlink:href='javascript:alert(1)'>x</a></math>",
    "<meta http-equiv='refresh' content='0; url=https://example.org/alert'>",
    "<base href='https://example.org/alert'>",
    "<object data='https://example.org/alert'></object>",
]
DEAD = ("alert", "<form", "<iframe", "<svg", "<style", "onerror", "javascript:", "src=", "<meta")


@pytest.mark.parametrize("text", LIVE)
def test_nothing_in_html_is_run_or_fetched(text):
    cleaned = clean(f"before {text} after").lower()
    assert not any(word in cleaned for word in DEAD)
    assert "before" in cleaned
    assert "after" in cleaned


# What MathJax, and KaTeX, would turn into a link, an attribute, a picture or more commands.
COMMANDS = {
    "href", "url", "class", "cssId", "style", "data", "bbox", "mmlToken", "require", "unicode",
    "csname", "includegraphics", "html", "htmlClass", "htmlData", "htmlId", "htmlStyle",
}  # fmt: skip
EVIL = "{javascript:alert(1)}{x}"


class Read(HTMLParser):
    """A page as a browser reads it: where it links to, and the text in which MathJax looks."""

    def __init__(self, page):
        super().__init__()
        self.links = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.links += [value for name, value in attrs if name in ("href", "cite")]
        self.text += "" if tag == "wbr" else "\n"

    def handle_data(self, data):
        self.text += data


@pytest.mark.parametrize(
    "text",
    [
        *(f"$\\{command}{EVIL}$" for command in sorted(COMMANDS)),
        *("$" + "\\" * count + f"href{EVIL}$" for count in (2, 3, 4, 5)),
        f"$\\hr\\hrefef{EVIL}$",
        f"$\\ht\\urlml\\style{EVIL}$",
        f"$\\hr<wbr>ef{EVIL}$",
        f"$\\hr<!-- -->ef{EVIL}$",
        f"$\\hr<script>x</script>ef{EVIL}$",
        f"$&#92;href{EVIL}$",
        f"$&bsol;&#x68;ref{EVIL}$",
        "$\\href1{x}$",
        "$\\href_x$",
        "$\\hrefé{x}$",
        "$\\def\\h{\\href}\\let\\u\\url\\h{javascript:alert(1)}{x}$",
        "$\\toggle{a}{\\href{javascript:alert(1)}{x}}\\endtoggle$",
        "$\\text{a $\\cssId{x}{b}$}$",
        "$\\mmlToken{mi}[href='javascript:alert(1)']{x}$",
        "$\\bbox[background:url(https://example.org)]{x}$",
        "\\begin{align}\\htmlStyle{x}{y}\\end{align}",
        "<a href='da&#9;ta:text/html,x'>x</a>",
        "<a href='&#1;data:text/html,x'>x</a>",
        "<a href='\u00a0DATA:text/html,x'>x</a>",
        "<a href='JaVa&#10;ScRiPt:alert(1)'>x</a>",
        "<a href='&#x6a;avascript&colon;alert(1)'>x</a>",
        "<a href='vbscript:x'>x</a>",
        "<a href='blob:https://example.org/x'>x</a>",
        "<a href='/hub/logout'>x</a>",
        "<a href='\\\\example.org'>x</a>",
        "<q cite='javascript:alert(1)'>x</q>",
    ],
)
def test_nothing_evades(text):
    for page in (clean(text), markdown2html({}, text)):
        read = Read(page)
        assert COMMANDS.isdisjoint(re.findall(r"\\([A-Za-z]+)", read.text))
        assert read.links == []


def test_honest_links_stay():
    links = ["https://arxiv.org/abs/1706.03762", "HTTP://example.org", "mailto:a@example.org"]
    assert Read(clean("".join(f"<a href='{link}'>x</a>" for link in links))).links == links


@pytest.mark.parametrize(
    "formula",
    [
        r"$\displaystyle \frac{QK^\top}{\sqrt{d_{head}}} \\ \hat{h}$",
        r"$$\mathrm{softmax}(x)_i = \frac{e^{x_i}}{\sum_j e^{x_j}}$$",
        r"\begin{bmatrix} 1 & 0 \\ -\infty & 1 \end{bmatrix}",
        r"$\textstyle \color{red}{\text{class}} \underbrace{W^O}_{\text{href}}$",
    ],
)
def test_honest_formulas_stay(formula):
    assert Read(clean(formula)).text == formula
    assert formula in Read(markdown2html({}, formula)).text


def test_formulas_tables_details_and_drawings_stay():
    drawing = "data:image/svg+xml;base64,PHN2Zy8+"
    text = (
        f'<details><summary>Hint</summary>$\\sqrt{{d}}$</details><img src="{drawing}" alt="heads">'
        "<table><tr><td>1</td></tr></table>"
    )
    cleaned = clean(text)
    for part in ("<details>", "\\sqrt{d}", drawing, 'alt="heads"', "<td>1</td>"):
        assert part in cleaned


def test_display_with_a_picture_is_kept_as_the_picture():
    bundle = {"image/png": PNG, "text/html": "<canvas>", "text/plain": "heads"}
    assert harmless_bundle(bundle) == {"image/png": PNG, "text/plain": "heads"}


@pytest.mark.parametrize("content", ['x" onerror="alert(1)', 7, None, ["x"]])
def test_picture_that_is_none_is_dropped(content):
    assert harmless_bundle({"image/png": content, "text/plain": "a"}) == {"text/plain": "a"}


@pytest.mark.parametrize(
    "kind",
    ["application/javascript", "image/svg+xml", "text/latex", "application/x",
     "application/vnd.jupyter.widget-view+json"],
)  # fmt: skip
def test_live_representations_are_dropped(kind):
    assert list(harmless_bundle({kind: "<script>alert(1)</script>"})) == ["text/plain"]


def page(nb):
    """The HTML of a notebook as feedback would show it."""
    nb, _ = HarmlessOutputs().preprocess(nb, {})
    exporter = HTMLExporter(template_name="classic", filters={"markdown2html": markdown2html})
    return exporter.from_notebook_node(nbformat.from_dict(nb))[0]


@pytest.mark.parametrize("text", LIVE[:5])
def test_a_whole_page_runs_nothing(text):
    evil = new_output("display_data", {"text/html": text, "text/markdown": text})
    evil.metadata = {"image/png": {"width": '1" onload="alert(1)'}}
    stream = new_output("stream", text=text)
    code = new_code_cell(text, outputs=[evil, stream])
    code.metadata.tags = ['"><script>alert(1)</script>']
    raw = new_raw_cell(f"{text} $\\href{EVIL}$")
    nb = new_notebook(cells=[code, new_markdown_cell(text), raw])
    nb.metadata.title = text
    nb.metadata.widgets = {"application/vnd.jupyter.widget-state+json": {"state": {}}}
    html = page(nb)
    for live in ("<script>alert", "<img src=x", "<svg onload", "<a href='java", '<a href="java'):
        assert live not in html
    assert 'onload="alert' not in html
    assert "href{javascript" in html
    assert "\\href{javascript" not in html
