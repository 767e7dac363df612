import pytest
from IPython.core.compilerop import CachingCompiler

from classroom.grading.sandbox.shell import Shell, make_shell


@pytest.fixture
def shell():
    Shell.clear_instance()  # whatever another test left
    yield make_shell(10_000)
    Shell.clear_instance()


def kinds(outputs):
    return [output["output_type"] for output in outputs]


def test_cell_shows_streams_displays_and_its_result_in_order(shell):
    source = "import sys\nprint('a')\nsys.stderr.write('b')\ndisplay(1)\n2"
    count, outputs = shell.run(source)
    assert count == 1
    assert kinds(outputs) == ["stream", "stream", "display_data", "execute_result"]
    assert [output.get("name") for output in outputs[:2]] == ["stdout", "stderr"]
    assert outputs[-1]["data"] == {"text/plain": "2"}


def test_cells_are_counted_and_share_their_names(shell):
    shell.run("x = 20")
    assert shell.run("x + 1")[0] == 2
    assert shell.run("_ + 1")[1][0]["data"]["text/plain"] == "22"


def test_semicolon_hides_the_result(shell):
    assert shell.run("2;")[1] == []


def test_traceback_names_cells_and_nothing_else(shell):
    shell.run("import json\ndef f():\n    json.loads('[')")
    (error,) = shell.run("f()")[1]
    assert error["ename"] == "JSONDecodeError"
    assert error["traceback"][:2] == [
        "In [2], line 1: f()",
        "In [1], line 3: json.loads('[')",
    ]
    assert len(error["traceback"]) == 3


def test_endless_recursion_is_shown_in_a_few_lines(shell):
    (error,) = shell.run("def f():\n    f()\nf()")[1]
    assert error["ename"] == "RecursionError"
    assert len(error["traceback"]) < 15


def test_exception_may_say_one_line_for_itself(shell):
    (error,) = shell.run(
        "class Friendly(Exception):\n    def _render_traceback_(self):\n        return ['hello']\n"
        "raise Friendly"
    )[1]
    assert error["traceback"] == ["hello"]


@pytest.mark.parametrize("rendered", ["1 / 0", "3"])
def test_exception_that_renders_nonsense_is_shown_as_ever(shell, rendered):
    (error,) = shell.run(
        f"class Odd(Exception):\n    def _render_traceback_(self):\n        return {rendered}\n"
        "    def __str__(self):\n        raise ValueError\nraise Odd"
    )[1]
    assert error["ename"] == "Odd"
    assert error["evalue"] == ""


def test_error_of_the_last_cell_is_kept(shell):
    shell.run("1 / 0")
    assert isinstance(shell.error, ZeroDivisionError)
    shell.run("1")
    assert shell.error is None


def test_reset_leaves_nothing(shell):
    shell.run("x = 1")
    shell.reset(new_session=True)
    assert "x" not in shell.user_ns
    assert shell.run("1")[0] == 1


LEARNED = "import math\nx = 1\ndef f():\n    return 1 / 0\nx + 1"


def test_cell_that_was_learned_is_not_compiled_again(shell, monkeypatch):
    shell.learn([LEARNED, "1 +", "%no_such_magic", "\0", "+".join("1" * 5000)])
    monkeypatch.setattr(shell.compile, "_parse", None)
    monkeypatch.setattr(CachingCompiler, "__call__", None)
    (result,) = shell.run(LEARNED)[1]
    assert result["data"] == {"text/plain": "2"}


def test_cell_that_was_learned_is_run_as_any_other(shell):
    shell.learn([LEARNED, "f()"])
    for first in (1, 3):
        assert shell.run(LEARNED)[0] == first
        assert shell.run("f()")[1][0]["traceback"][:2] == [
            f"In [{first + 1}], line 1: f()",
            f"In [{first}], line 4: return 1 / 0",
        ]
    shell.run("get_ipython().ast_node_interactivity = 'all'")
    assert len(shell.run("1\n2")[1]) == len(shell.run("1\n2")[1]) == 2


def test_statement_from_the_future_holds_for_later_cells_that_were_learned(shell):
    define = "def f(x: unknown):\n    pass"
    shell.learn(["from __future__ import annotations", define])
    assert shell.run(define)[1][0]["ename"] == "NameError"
    shell.run("from __future__ import annotations")
    assert shell.run(define)[1] == []
    assert shell.user_ns["f"].__annotations__ == {"x": "unknown"}


def test_each_function_has_the_source_it_was_made_of(shell):
    for number in (1, 2, 1):
        shell.run(f"def f():\n    return {number}\ndef g():\n    return {number}")
        shell.run(f"f{number}, g{number} = f, g")
    shell.run("import inspect")
    for name, number in [("f", 1), ("g", 1), ("f", 2), ("g", 2)]:
        shell.run(f"source = inspect.getsource({name}{number})")
        assert shell.user_ns["source"] == f"def {name}():\n    return {number}\n"


def test_learning_runs_nothing(shell):
    shell.learn(["x = 1", "print(2)"])
    assert "x" not in shell.user_ns
    assert shell.execution_count == 1


def test_whoever_transforms_trees_finds_each_as_it_was_written(shell):
    shell.learn(["x = 1"])
    shell.run(
        "import ast\nclass Double(ast.NodeTransformer):\n    def visit_Constant(self, node):\n"
        "        node.value *= 2\n        return node\n"
    )
    shell.run("get_ipython().ast_transformers.append(Double())")
    for _ in range(2):
        shell.run("x = 1")
        assert shell.user_ns["x"] == 2


@pytest.mark.parametrize(
    "cell", ["import asyncio\nawait asyncio.sleep(0, 5)", "[x async for x in numbers()]"]
)
def test_cell_may_wait(shell, cell):
    shell.run("async def numbers():\n    yield 5")
    (result,) = shell.run(cell)[1]
    assert "5" in result["data"]["text/plain"]


def test_timed_cell_shows_its_last_expression_each_time(shell):
    for _ in range(2):
        assert shell.run("%%time\nx = 1\nx + 4")[1][-1]["data"] == {"text/plain": "5"}
