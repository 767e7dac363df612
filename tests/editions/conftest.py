"""The editions as the lessons give them now, and a way to run them as a learner would."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from nbclient import NotebookClient
from nbformat import NotebookNode

from classroom.editions import Lesson, build, read_lesson
from classroom.editions.notebook import from_json

ROOT = Path(__file__).resolve().parents[2]

# A kernel imports this at its start: the package that is installed for the tests is out of reach,
# and only one in the notebook's own folder is found.
ONLY_BESIDE_THE_NOTEBOOK = """\
import os
import sys
from importlib.machinery import PathFinder


class OnlyBesideTheNotebook:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name != "attention_lab":
            return None
        spec = PathFinder.find_spec(name)
        if spec is None or os.path.dirname(os.path.dirname(spec.origin)) != os.getcwd():
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return spec


sys.meta_path.insert(0, OnlyBesideTheNotebook)
"""


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def built() -> dict[str, str]:
    """All editions, built once: JSON text by path."""
    return build(ROOT)


@pytest.fixture(params=sorted((ROOT / "lessons").glob("*.py")), ids=lambda path: path.stem)
def lesson(request) -> Lesson:
    return read_lesson(request.param)


@pytest.fixture
def edition(built: dict[str, str], lesson: Lesson) -> Callable[[str], NotebookNode]:
    """An edition of the lesson: "source", "release" or "notebooks"."""
    paths = {
        "source": f"source/{lesson.assignment}/{lesson.name}.ipynb",
        "release": f"release/{lesson.assignment}/{lesson.name}.ipynb",
        "notebooks": f"notebooks/{lesson.name}.ipynb",
    }
    return lambda name: from_json(built[paths[name]])


@pytest.fixture
def execute(tmp_path_factory) -> Callable[..., NotebookNode]:
    """Run a notebook in a folder where nothing is importable but what lies in it."""
    start_up = tmp_path_factory.mktemp("start-up")
    (start_up / "sitecustomize.py").write_text(ONLY_BESIDE_THE_NOTEBOOK)

    def execute(notebook: NotebookNode, folder: Path, **options) -> NotebookNode:
        resources = {"metadata": {"path": str(folder)}}
        environment = {**os.environ, "PYTHONPATH": str(start_up), "IPYTHONDIR": str(start_up)}
        options |= {"timeout": 300, "iopub_timeout": 60, "resources": resources}
        client = NotebookClient(notebook, **options)
        return client.execute(env=environment)

    return execute
