"""Google Colab, as far as it can be had here: its published versions, an empty folder, no network.

`.venv-colab` has the versions of tests/colab-pins.txt and torch. Neither the course's package nor
anything else of the course is installed there.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

from classroom.editions import build
from classroom.editions.notebook import from_json

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / ".venv-colab" / "bin" / "python"
# Its own network has no way out, and a loopback of its own.
WITHOUT_NETWORK = ["bwrap", "--dev-bind", "/", "/", "--unshare-net", "--die-with-parent"]
RUN = """
import sys

import nbformat
from nbclient import NotebookClient

notebook = nbformat.read(sys.argv[1], nbformat.NO_CONVERT)
options = {"timeout": 300, "iopub_timeout": 60, "allow_errors": True, "kernel_name": "colab"}
NotebookClient(notebook, **options).execute()
nbformat.write(notebook, sys.argv[1])
"""
CODE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="session")
def colab_python() -> Path:
    if not PYTHON.exists():
        pytest.fail(f"{PYTHON.parent.parent.name} is missing: `make test` sets it up")
    return PYTHON


@pytest.fixture(scope="session")
def written() -> str:
    """The Colab edition, as JSON text."""
    return build(ROOT)["notebooks/multi_head_attention.ipynb"]


@pytest.fixture(scope="session")
def complaints():
    """Everything that a notebook's cells raised or wrote to stderr, each with its cell's id."""
    return lambda notebook: [
        (cell.id, output.get("text") or output.get("evalue"))
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        if output.output_type == "error" or output.get("name") == "stderr"
    ]


@pytest.fixture
def edition(written) -> NotebookNode:
    return from_json(written)


@pytest.fixture(scope="module")
def solved(written) -> NotebookNode:
    """The edition, with the solutions of its folded cells in the place of the stubs."""
    edition = from_json(written)
    solutions = {
        cell.id.removeprefix("solution-"): CODE.search(cell.source)[1]
        for cell in edition.cells
        if cell.id.startswith("solution-")
    }
    for cell in edition.cells:
        cell.source = solutions.pop(cell.id, cell.source)
    assert solutions == {}
    return edition


@pytest.fixture(scope="session")
def execute(colab_python, tmp_path_factory):
    """Run a notebook from top to bottom in a folder, whatever its cells raise."""
    kernel = tmp_path_factory.mktemp("jupyter") / "kernels" / "colab" / "kernel.json"
    kernel.parent.mkdir(parents=True)
    argv = [str(colab_python), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    kernel.write_text(
        json.dumps({"argv": argv, "display_name": "Colab", "language": "python"}), encoding="utf-8"
    )

    environment = os.environ | {"JUPYTER_PATH": str(kernel.parents[2])}
    environment.pop("PYTHONPATH", None)
    # Else the first notebook's matplotlib would say on stderr that it looks for fonts.
    looked = [colab_python, "-c", "import matplotlib.font_manager"]
    subprocess.run(looked, env=environment, check=True)

    def execute(notebook: NotebookNode, folder: Path, **variables: str) -> NotebookNode:
        path = folder / "notebook.ipynb"
        nbformat.write(notebook, path)
        subprocess.run(
            [*WITHOUT_NETWORK, sys.executable, "-c", RUN, path],
            env=environment | variables,
            cwd=folder, check=True, capture_output=True, text=True,
        )  # fmt: skip
        return nbformat.read(path, as_version=nbformat.NO_CONVERT)

    return execute
