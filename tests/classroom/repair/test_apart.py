import json
import os

import pytest
from nbformat.v4 import new_code_cell

from classroom import bounded
from classroom.repair import apart
from classroom.repair.apart import read_submission
from classroom.repair.reading import Unreadable


@pytest.fixture
def read(course, released):
    def read(path):
        return json.loads(read_submission(course.directory, path.parent, course.source()))

    return read


def test_a_submission_is_read_and_repaired(course, read):
    path = course.hand_in("ada")
    path.rename(path.with_name("other.ipynb"))
    assert [cell["source"] for cell in read(path)["cells"]][1] == "def double(x):\n    return 2 * x"


def test_it_is_read_once_until_it_changes(course, read, monkeypatch):
    began = []
    run = bounded.run
    monkeypatch.setattr(bounded, "run", lambda *a, **k: began.append(a) or run(*a, **k))
    path = course.hand_in("ada")
    assert read(path) == read(path)
    assert len(began) == 1
    path.write_text("")
    for _ in range(2):
        with pytest.raises(Unreadable, match="is empty"):
            read(path)
    assert len(began) == 2


def nested(path):
    path.write_text('{"cells": ' + "[" * 100_000)


def damaged(path):
    notebook = json.loads(path.read_text())
    metadata = {}
    for _ in range(600):
        metadata = {"a": metadata}
    notebook["cells"][1]["metadata"]["nbgrader"]["deep"] = metadata
    path.write_text(json.dumps(notebook))


def many_cells(path):
    notebook = json.loads(path.read_text())
    notebook["cells"] += [new_code_cell("x")] * 2000
    path.write_text(json.dumps(notebook))


def many_objects(path):
    path.write_text('{"cells": [' + "{}," * (20 << 20) + "{}]}")


def branches(path):
    notebook = json.loads(path.read_text())
    notebook["cells"][1]["source"] = "# double\nif x: pass\n" + "elif x: pass\n" * 2000
    path.write_text(json.dumps(notebook))


@pytest.mark.parametrize(
    ("horror", "reason"),
    [
        (nested, "is nested too deeply"),
        (many_cells, r"has 2,004 cells, more than 2,000 \(c\.Reading\.cells\)"),
        (many_objects, "takes more than 1024 MiB of memory"),
    ],
)
def test_what_is_too_much_has_a_reason(course, read, horror, reason):
    path = course.hand_in("ada")
    horror(path)
    with pytest.raises(Unreadable, match=reason):
        read(path)


@pytest.mark.parametrize("horror", [damaged, branches])
def test_what_is_odd_but_no_more_is_read(course, read, horror):
    path = course.hand_in("ada")
    horror(path)
    assert len(read(path)["cells"]) == 4


def test_the_bounds_are_settings(course, read):
    course.config.Reading.cells = 3
    with pytest.raises(Unreadable, match="has 4 cells, more than 3"):
        read(course.hand_in("ada"))


def test_a_child_that_dies_is_that_notebooks_reason(course, read, monkeypatch):
    monkeypatch.setattr(apart, "mended", lambda *_: os.abort())
    with pytest.raises(Unreadable, match=r"^the notebook takes more than 1024 MiB"):
        read(course.hand_in("ada"))
