"""The lesson as it looks once it is solved and run: one page, to be seen before one runs it."""

from pathlib import Path
from tempfile import TemporaryDirectory

from nbclient import NotebookClient
from nbconvert import HTMLExporter
from nbformat import NotebookNode
from traitlets.config import Config

from classroom.editions.notebook import new_notebook
from classroom.editions.package import copy_package
from classroom.editions.regions import HIDDEN_TESTS, without_markers, without_regions

_FOLDED = "folded"


def execute(source: NotebookNode, package: Path) -> str:
    """Run the instructor version beside a copy of the package; returns it as a page.

    It needs no network to be read: pictures, styles and scripts are inside.

    Raises:
        CellExecutionError: a cell raises.
    """
    notebook = new_notebook(_plain(cell) for cell in source.cells)
    with TemporaryDirectory() as folder:
        copy_package(package, Path(folder))
        resources = {"metadata": {"path": folder}}
        NotebookClient(notebook, timeout=600, iopub_timeout=120, resources=resources).execute()
    _drop_widgets(notebook)
    config = Config()
    config.TagRemovePreprocessor.enabled = True
    config.TagRemovePreprocessor.remove_input_tags = {_FOLDED}
    exporter = HTMLExporter(config=config, mathjax_url="", require_js_url="", mermaid_js_url="")
    exporter.register_preprocessor("nbconvert.preprocessors.TagRemovePreprocessor", enabled=True)
    page, _ = exporter.from_notebook_node(notebook, {"metadata": {"name": "Multi-head attention"}})
    return page


def _drop_widgets(notebook: NotebookNode) -> None:
    """They need a kernel, and a page with any of them asks the network for a script."""
    notebook.metadata.pop("widgets", None)
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            output.get("data", {}).pop("application/vnd.jupyter.widget-view+json", None)


def _plain(cell: NotebookNode) -> NotebookNode:
    """The cell as a reader wants it: without hidden tests, markers and rights to fail."""
    cell = cell.copy()
    folded = cell.metadata.get("jupyter", {}).get("source_hidden")
    cell.source = without_markers(without_regions(cell.source, HIDDEN_TESTS))
    cell.metadata = {"tags": [_FOLDED]} if folded else {}
    return cell
