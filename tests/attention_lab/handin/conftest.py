"""A lesson of two steps, and notebooks that were made of it."""

import pytest

from attention_lab.handin.lesson import Lesson, Slot

STUB = "def {}(x):\n    raise NotWrittenYet"
DOUBLE = "def double(x):\n    return 2 * x"
HALVE = "def halve(x):\n    return x / 2"


def cell(source, name=None, *, kind="code", grade_id=None):
    """A cell as JSON; with a name it is marked as the released lesson marks its cells."""
    made = {"cell_type": kind, "id": name or "c0ffee", "metadata": {}, "source": source}
    if grade_id or name not in (None, "setup"):
        made["metadata"]["nbgrader"] = {"grade_id": grade_id or name}
    return made


@pytest.fixture
def lesson():
    return Lesson(
        "small",
        (
            Slot("setup", "setup", "import math\nimport statistics"),
            Slot("double", "solution", STUB.format("double")),
            Slot("test_double", "test", "check.double(double)"),
            Slot("halve", "solution", STUB.format("halve")),
            Slot("test_halve", "test", "check.halve(halve)"),
        ),
    )


@pytest.fixture
def notebook():
    """A solved notebook, by name of the cell; `list(notebook.values())` are its cells."""
    sources = {
        "setup": "import math\nimport statistics",
        "double": DOUBLE,
        "test_double": "check.double(double)",
        "halve": HALVE,
        "test_halve": "check.halve(halve)",
    }
    return {name: cell(source, name) for name, source in sources.items()}
