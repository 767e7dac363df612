"""Pages of what students made, rendered in a child, within bounds.

`BoundedExporter` is below both pages: the one that a student gets back (`classroom.feedback`), and
the one on which a teaching assistant grades by hand, here.
"""

import html
import sys

from nbconvert.exporters import HTMLExporter
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell

from classroom import bounded
from classroom.grading.record import KEY
from classroom.grading.sanitise import markdown2html
from classroom.repair.apart import Reading

FORMGRADER = "nbgrader.server_extensions.formgrader.formgrader"
PLAIN = "This page shows plain text only, and not all of it: the notebook {} when it is rendered."
CELLS = 500  # of a plain page
LENGTH = 10_000  # characters of a text on it
SHOWN = ("text/plain", "image/png", "image/jpeg")


class BoundedExporter(HTMLExporter):
    """Cleans what Markdown becomes, whatever the configuration says; where a page takes too much,
    there is a plain one.

    Raises Failed if that fails as well.
    """

    def from_notebook_node(
        self, nb: NotebookNode, resources: dict | None = None, **kw
    ) -> tuple[str, dict]:
        nb, resources = self._preprocess(nb, self._init_resources(resources))
        bounds = Reading(config=self.config).bounds
        try:
            return bounded.run(self._render, nb, resources, bounds=bounds), resources
        except bounded.Failed as error:
            self.log.warning("Rendered as plain text: the notebook %s", error)
            plain = plain_notebook(nb, PLAIN.format(error))
            return bounded.run(self._render_plainly, plain, resources, bounds=bounds), resources

    def _render(self, nb, resources):
        self._preprocessors = []
        self.register_filter("markdown2html", markdown2html)
        page, _ = super().from_notebook_node(nb, resources)
        return page

    def _render_plainly(self, nb, resources):
        self._preprocessors = []
        self.filters = {"highlight_code": _plain}  # which nbconvert would put in place of ours
        self.register_filter("markdown2html", _plain)
        page, _ = super().from_notebook_node(nb, resources)
        return page


class ByHandExporter(BoundedExporter):
    """The formgrader's page; that of a notebook of another assignment is nbgrader's own."""

    def from_notebook_node(
        self, nb: NotebookNode, resources: dict | None = None, **kw
    ) -> tuple[str, dict]:
        if KEY not in nb.metadata:
            return HTMLExporter.from_notebook_node(self, nb, resources, **kw)
        # The page takes a student's name as HTML.
        named = {k: html.escape(v) for k, v in (resources or {}).items() if isinstance(v, str)}
        return super().from_notebook_node(nb, {**(resources or {}), **named}, **kw)


def use_in_formgrader() -> None:
    """Have a formgrader that is starting render with `ByHandExporter`."""
    if FORMGRADER in sys.modules:
        sys.modules[FORMGRADER].HTMLExporter = ByHandExporter


def plain_notebook(nb: NotebookNode, reason: str) -> NotebookNode:
    """What of a notebook can be shown in any case, headed by a sentence."""
    cells = [new_markdown_cell(reason), *(_cut_cell(cell) for cell in nb.cells[:CELLS])]
    return NotebookNode({**nb, "cells": cells})


def _cut_cell(cell):
    cut = NotebookNode({**cell, "source": cell.source[:LENGTH]})
    if "outputs" in cell:
        cut.outputs = [_cut_output(output) for output in cell.outputs[:10]]
    return cut


def _cut_output(output):
    if "data" in output:
        kept = {kind: output.data[kind] for kind in SHOWN if kind in output.data}
        if "text/plain" in kept:
            kept["text/plain"] = kept["text/plain"][:LENGTH]
        return NotebookNode({**output, "data": NotebookNode(kept)})
    if "text" in output:
        return NotebookNode({**output, "text": output.text[:LENGTH]})
    lines = [line[:LENGTH] for line in output.get("traceback", [])[:50]]
    return NotebookNode({**output, "traceback": lines})


def _plain(source, *_, **__):
    return f"<pre>{html.escape(source)}</pre>"
