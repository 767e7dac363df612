import functools
import linecache

import pytest
from torch import nn

from attention_lab.observation import definition_in, definition_of

CELL = """# a cell
import torch

def f(x):
    return x

@torch.no_grad()
def f(x):
    'é'
    return -x

class C(nn.Module):
    def forward(self, x):
        return f(x)
f(1) if False else None
"""


@pytest.fixture
def names():
    linecache.cache["<one cell>"] = (len(CELL), None, CELL.splitlines(keepends=True), "<one cell>")
    names = {"nn": nn}
    exec(compile(CELL, "<one cell>", "exec"), names)
    yield names
    del linecache.cache["<one cell>"]


@pytest.mark.parametrize(("name", "first", "last"), [("f", 7, 10), ("C", 12, 14)])
def test_the_last_definition_is_found_with_its_decorators(names, name, first, last):
    found = definition_in(CELL, name)
    assert (found.first, found.last) == (first, last)
    assert found.text == "".join(CELL.splitlines(keepends=True)[first - 1 : last])
    assert definition_of(names[name]) == found


@pytest.mark.parametrize("cell", ["def f(:", "%%time\ndef f(): pass", "f = 1", "\0", ""])
def test_there_may_be_none(cell):
    assert definition_in(cell, "f") is None


def test_what_does_not_stand_by_itself_has_none(names):
    for answer in (lambda x: x, len, functools.partial(names["f"], 1), 3):
        assert definition_of(answer) is None
