import ast

import pytest

from classroom.grading.sandbox import rescue
from classroom.grading.sandbox.rescue import Rescue


def run(text, **options):
    names = {}
    found = Rescue(names, "<cell>")
    found.run(rescue.parse(text), **options)
    return found, names


@pytest.mark.parametrize(
    ("text", "is_rescued"),
    [
        ("def f(): ...", True),
        ("class A: ...", True),
        ("import math", True),
        ("from math import *", True),
        ("x = f()", True),
        ("x: int = 3", True),
        ("if here:\n    x = 1\nelse:\n    pass", True),
        ("try:\n    import a\nexcept ImportError:\n    a = None", True),
        ("print(1)", False),
        ("if here:\n    print(1)", False),
        ("for x in y:\n    pass", False),
        ("raise ValueError", False),
    ],
)
def test_statements_that_only_define(text, is_rescued):
    assert rescue.is_rescued(ast.parse(text).body[0]) is is_rescued


@pytest.mark.parametrize(
    ("text", "is_plain"),
    [("x = 3", True), ("x = -m.e, [y]", True), ("x = f()", False), ("x = y @ y", False)],
)
def test_assignments_that_compute_nothing(text, is_plain):
    assert rescue.is_rescued(ast.parse(text).body[0], only_plain=True) is is_plain


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("async def f(): ...", ["f"]),
        ("import os.path, math as m", ["os", "m"]),
        ("a, (b, *c) = d = e", ["a", "b", "c", "d"]),
        ("if x:\n    y = 1\nelse:\n    z = 1", ["y", "z"]),
        ("print(1)", []),
    ],
)
def test_names_that_a_statement_would_define(text, names):
    assert rescue.names_of(ast.parse(text).body[0]) == names


def test_each_statement_runs_by_itself():
    found, names = run("import nowhere\nx = undefined\nprint(1)\ndef f(): return 3\ny = f()")
    assert (found.defined, found.missing) == (["f", "y"], ["nowhere", "x"])
    assert names["y"] == 3


def test_annotations_and_decorators_of_what_is_missing_are_left_out():
    found, names = run(
        "@nowhere\ndef f(x: Nowhere[int, 'b t']) -> Nowhere: return x\ny: Nowhere = 3"
    )
    assert found.defined == ["f", "y"]
    assert names["f"](names["y"]) == 3


def test_decorators_that_are_there_stay():
    _, names = run("def twice(f): return lambda x: 2 * f(x)\n@twice\ndef g(x): return x")
    assert names["g"](3) == 6


def failure(text):
    try:
        exec(compile(text, "<cell>", "exec"), {})
    except Exception as error:
        return error


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("x = 1\ny = 1 / 0\nz = 2", ["y = 1 / 0", "z = 2"]),
        ("import nowhere, math", ["import nowhere", "import math"]),
        ("if True:\n    1 / 0\n    x = 1\ny = 2", ["1 / 0", "x = 1", "y = 2"]),
        ("def f():\n    1 / 0\nf()\nx = 1", ["f()", "x = 1"]),
    ],
)
def test_what_is_left_of_a_cell_that_failed(text, rest):
    left = rescue.from_failure(text, failure(text), "<cell>")
    assert [ast.unparse(statement) for statement in left] == rest


def test_of_an_error_from_elsewhere_nothing_is_left():
    assert rescue.from_failure("x = 1", ValueError(), "<cell>") == []
    assert rescue.parse("x = (") == []


def test_nothing_is_computed_any_more_once_it_was_interrupted():
    found, _ = run("def f(): raise KeyboardInterrupt\nx = f()\ny = f\nz = len('heads')")
    assert (found.defined, found.missing) == (["f", "y"], ["x", "z"])


@pytest.mark.parametrize(
    ("cell", "below"),
    [("%%time\nx = 1", "x = 1"), ("%%capture out\nx", "x"), ("%%bash\nls", None), ("x", None)],
)
def test_what_a_magic_runs(cell, below):
    assert rescue.below_magic(cell) == below
