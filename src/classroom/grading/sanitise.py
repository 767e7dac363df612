"""Makes what students wrote and displayed harmless to whoever opens it.

Feedback pages and the formgrader run in a browser, the formgrader with the rights of the grader's
Jupyter server. These take care:

- `HarmlessOutputs`, one of the autograding passes, on outputs, raw cells and metadata. A display
  that has a picture is kept as the picture: heatmaps need no script there.
- `markdown2html`, in place of nbconvert's filter of that name, on what Markdown has become; see
  `classroom.rendering`.
- `DropMadeUpNotes`, one of the sanitising passes, on notebooks that are not ours.
"""

import html
import re
from collections.abc import Iterable
from urllib.parse import unquote

import nh3
from jinja2 import pass_context
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbformat import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor
from pygments.token import STANDARD_TYPES

from classroom import bounded
from classroom.bounded import Bounds
from classroom.course import uses_attention_lab
from classroom.grading.record import KEY
from classroom.preprocessors import CoursePreprocessor
from classroom.repair.apart import Reading
from classroom.repair.flags import KEY as REPAIR_KEY

PICTURES = ("image/png", "image/jpeg")
TEXTS = ("text/plain", "text/markdown")
BASE64 = re.compile(r"[A-Za-z0-9+/\s]*={0,2}")
DATA_PICTURE = re.compile(r"data:image/(png|jpeg|gif|svg\+xml)[;,]")
# Nothing within the page: the formgrader's own scripts look for places of that name.
LINK = re.compile(r"(https?:|mailto:)", re.IGNORECASE)
# MathJax turns these into links, attributes, pictures and further commands.
LIVE_MATH = re.compile(
    r"\\(?=(href|url|class|cssId|style|data|bbox|mmlToken|require|unicode|csname"
    r"|includegraphics|html[A-Za-z]*)(?![A-Za-z]))"
)

TAGS = nh3.ALLOWED_TAGS - {"area", "map", "wbr"}  # MathJax reads a word on across a <wbr>
ATTRIBUTES = {
    **nh3.ALLOWED_ATTRIBUTES,
    "*": {"class", "title", "lang", "dir"},
    "a": {"href"},
    "details": {"open"},
}
# Those of highlighted code. Any other, and every id, may be one that nbgrader's page, its scripts
# or Bootstrap's know, and do something by.
CLASSES = frozenset(STANDARD_TYPES.values()) | {"highlight"}


MANY = 256  # texts: right answers of a class show the same
_known: dict[str, str] = {}


class DropMadeUpNotes(NbGraderPreprocessor):
    """Removes what stands in another assignment's notebook where ours have their notes, which a
    student wrote; what reads those need not ask whose a notebook is."""

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        course = self.parent.parent.coursedir
        if not uses_attention_lab(course, resources["nbgrader"]["assignment"]):
            for name in (KEY, REPAIR_KEY):
                nb.metadata.pop(name, None)
        return nb, resources


class HarmlessOutputs(CoursePreprocessor):
    """Leaves in an autograded notebook nothing that a browser would run or fetch."""

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        kept = ("kernelspec", KEY, REPAIR_KEY)
        nb.metadata = NotebookNode(
            {name: nb.metadata[name] for name in kept if name in nb.metadata}
        )
        nb.metadata.language_info = NotebookNode(name="python")
        shown = [
            harmless_bundle(output.data).get("text/html")
            for cell in nb.cells
            for output in cell.get("outputs", ())
            if "data" in output
        ]
        self._cleaned = clean_apart([*filter(None, shown)], Reading(config=self.config).bounds)
        return super().preprocess(nb, resources)

    def preprocess_cell(
        self, cell: NotebookNode, resources: dict, index: int
    ) -> tuple[NotebookNode, dict]:
        if cell.cell_type == "raw":
            cell.source = LIVE_MATH.sub(" ", html.escape(cell.source))
        for output in cell.get("outputs", ()):
            if "data" in output:
                output.data = NotebookNode(self._harmless(output.data))
                output.metadata = alternative_text(output.data)
        return cell, resources

    def _harmless(self, data):
        kept = harmless_bundle(data)
        if "text/html" in kept:
            kept["text/html"] = self._cleaned[kept["text/html"]]
        return kept


def harmless_bundle(data: dict) -> dict:
    """Of the representations of one display: its picture, or its HTML as it is; and its text."""
    kept = {kind: data[kind] for kind in TEXTS if isinstance(data.get(kind), str)}
    pictures = {kind: data[kind] for kind in PICTURES if _is_base64(data.get(kind))}
    if pictures:
        return kept | pictures
    if isinstance(data.get("text/html"), str):
        kept["text/html"] = data["text/html"]
    return kept or {"text/plain": "(a display that is not kept)"}


def clean_apart(texts: Iterable[str], bounds: Bounds) -> dict[str, str]:
    """HTML texts cleaned in a child: all, or of none more than why it is not shown."""
    unknown = sorted(set(texts) - _known.keys())
    if len(_known) + len(unknown) > MANY:
        _known.clear()
        unknown = sorted(set(texts))
    if unknown:
        try:
            cleaned = bounded.run(lambda: [clean(text) for text in unknown], bounds=bounds)
        except bounded.Failed as error:
            return dict.fromkeys(texts, f"<em>(not shown: to clean it {error})</em>")
        _known.update(zip(unknown, cleaned, strict=True))
    return {text: _known[text] for text in texts}


def alternative_text(data: dict) -> NotebookNode:
    """Metadata of a display that gives its pictures the words beside them as alternative text."""
    words = data.get("text/plain", "")
    return NotebookNode({kind: NotebookNode(alt=words) for kind in PICTURES if kind in data})


@pass_context
def markdown2html(context, source: str) -> str:
    """nbconvert's rendering of Markdown, cleaned."""
    attachments = Attachments(context.get("cell", {}).get("attachments", {}))
    renderer = IPythonRenderer(escape=False, attachments=attachments, exclude_anchor_links=True)
    return clean(MarkdownWithMath(renderer=renderer).render(source))


class Attachments(dict):
    """The pictures pasted into a cell. One that is not there is an empty picture: nbconvert would
    give up the whole page."""

    def __contains__(self, name):
        return True

    def __missing__(self, name):
        return self.get(unquote(name), {"image/png": ""})


def clean(text: str) -> str:
    """HTML without scripts, styles, forms, frames, live formulas, or anything from elsewhere."""
    cleaned = nh3.clean(
        text,
        tags=TAGS,
        attributes=ATTRIBUTES,
        attribute_filter=_attribute,
        url_schemes={"http", "https", "mailto", "data"},
    )
    return LIVE_MATH.sub(" ", cleaned)  # not "": what is before could join what follows


def _attribute(tag, name, value):
    if name == "src":
        return value if DATA_PICTURE.match(value) else None
    if name in ("href", "cite"):
        return value if LINK.match(value) else None
    if name == "class":
        return " ".join(filter(CLASSES.__contains__, value.split())) or None
    return value


def _is_base64(content):
    return isinstance(content, str) and BASE64.fullmatch(content.rstrip()) is not None
