import json
from pathlib import Path

from attention_lab.handin.lesson import Slot, released_lessons
from classroom.skeleton import lesson_of


def cell(name, source="", **nbgrader):
    return {"id": name, "source": source, "metadata": {"nbgrader": nbgrader} if nbgrader else {}}


def test_the_cells_that_grading_relies_on():
    released = [
        cell("prose"),
        {"id": "setup", "source": ["import ", "math"], "metadata": {"tags": ["setup"]}},
        cell("double", "def double(x): ...", solution=True),
        cell("c1", "def halve(x): ...", solution=True, grade_id="halve"),
        cell("c2", "def other(x): ...", solution=True, grade_id="third"),
        cell("test_double", grade=True, locked=True),
        cell("notice", locked=True),
        cell("essay", solution=True, grade=True),
        cell("project", task=True),
        cell("demo", "double(3)"),
    ]
    lesson = lesson_of({"cells": released}, "small")
    assert lesson.notebook == "small"
    assert {slot.name: slot.kind for slot in lesson.slots} == {
        "setup": "setup",
        "double": "solution",
        "halve": "solution",
        "third": "written",
        "test_double": "test",
        "notice": "test",
        "essay": "written",
        "project": "written",
    }
    assert lesson.slots[0].source == "import math"


def test_what_is_released_knows_no_hidden_check():
    root = Path(__file__).parents[2]
    [lesson] = released_lessons()
    released = root / "release" / "mha" / f"{lesson.notebook}.ipynb"
    assert lesson == lesson_of(json.loads(released.read_text(encoding="utf-8")), lesson.notebook)
    assert "hidden" not in lesson.to_json()
    assert isinstance(lesson.slots[0], Slot)
