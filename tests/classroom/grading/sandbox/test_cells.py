"""Cells as text, and the code that is made of them."""

import ast

import pytest
from IPython.core.inputtransformer2 import TokenTransformBase

from classroom.grading.sandbox.cells import Compiler, Transformer

MODULE = "x = 1\nx + 1\n"


@pytest.fixture
def compiler():
    return Compiler()


def statements(compiler, text):
    return compiler.ast_parse(text, compiler.get_code_name(text, text, 1)).body


def compiled(compiler, statement, name="<name>"):
    return compiler(ast.Module([statement], []), name, "exec")


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("x = %lsmagic", "x = get_ipython().run_line_magic('lsmagic', '')\n"),
        ("y = 7\n!true", "y = 7\nget_ipython().system('true')\n"),
        ("len?", "get_ipython().run_line_magic('pinfo', 'len')\n"),
        ("%%time\nx = 1", "get_ipython().run_cell_magic('time', '', 'x = 1\\n')\n"),
        ("x = 7 \\\n% 3\n'%ls?'  # why?", "x = 7 \\\n% 3\n'%ls?'  # why?\n"),
        ("1 +", "1 +\n"),
    ],
)
def test_commands_become_python_and_python_stays(cell, expected):
    assert Transformer().transform_cell(cell) == expected


def test_commands_of_the_notebooks_own_are_obeyed():
    class Double(TokenTransformBase):
        @classmethod
        def find(cls, tokens_by_line):
            return next(
                (cls(t.start) for line in tokens_by_line for t in line if t[1] == "two"), None
            )

        def transform(self, lines):
            return [line.replace("two", "2") for line in lines]

    transformer = Transformer()
    transformer.token_transformers.append(Double)
    assert transformer.transform_cell("x = two") == "x = 2\n"


def test_transforming_warns_of_nothing():
    assert Transformer().transform_cell("'\\d'") == "'\\d'\n"


def test_text_is_parsed_and_each_statement_compiled_once(compiler):
    first, again = (statements(compiler, MODULE) for _ in range(2))
    assert first == again
    assert compiled(compiler, first[0]) is compiled(compiler, again[0])
    assert compiled(compiler, first[0]) is not compiled(compiler, first[0], "<other>")


def test_whoever_takes_a_statement_off_leaves_the_next_parse_whole(compiler):
    statements(compiler, MODULE).pop()
    assert len(statements(compiler, MODULE)) == 2


def test_other_kinds_of_source_are_compiled_as_ever(compiler):
    assert eval(compiler(ast.parse("1 + 1", mode="eval"), "<name>", "eval")) == 2
    assert eval(compiler("2 + 2", "<name>", "eval")) == 4
    assert isinstance(compiler.ast_parse("1", symbol="eval"), ast.Expression)


def test_statement_from_the_future_holds_for_what_follows_every_time(compiler):
    (future,) = statements(compiler, "from __future__ import annotations")
    for _ in range(2):
        compiler.reset_compiler_flags()
        compiled(compiler, future)
        assert compiler.flags & compiled(compiler, ast.Pass(lineno=1, col_offset=0)).co_flags


@pytest.mark.parametrize("cell", ["", "x = 1", "x = 1\nx", "from __future__ import annotations"])
def test_learning_changes_no_flags(compiler, cell):
    flags = compiler.flags
    compiler.learn(cell)
    assert compiler.flags == flags


def test_only_python_can_be_learned(compiler):
    flags = compiler.flags
    for no_python in ("1 +", "return"):
        with pytest.raises(SyntaxError):
            compiler.learn(no_python)
    assert compiler.flags == flags
