"""The text of an answer, found in the cell that defines it."""

import ast
import inspect
import linecache
from dataclasses import dataclass


@dataclass(frozen=True)
class Definition:
    """The text that defines a function or class. first: its first line in its cell, from 1."""

    name: str
    text: str
    first: int

    @property
    def last(self) -> int:
        return self.first + self.text.count("\n") - 1


def definition_in(cell: str, name: str) -> Definition | None:
    """Return the last definition of `name` in the text of a cell, or None."""
    try:
        body = ast.parse(cell).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    kinds = (ast.FunctionDef, ast.ClassDef)
    found = [node for node in body if isinstance(node, kinds) and node.name == name]
    if not found:
        return None
    node = found[-1]
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    lines = cell.splitlines()[first - 1 : node.end_lineno]
    return Definition(name, "\n".join(lines) + "\n", first)


def definition_of(answer) -> Definition | None:
    """Return the definition of a function or class of this process; None where its text cannot be
    read, or where it does not stand by itself in its cell."""
    for function in functions_of(answer):
        code = function.__code__
        cell = "".join(linecache.getlines(code.co_filename))
        name = answer.__name__ if inspect.isclass(answer) else function.__name__
        found = definition_in(cell, name)
        if found and found.first <= code.co_firstlineno <= found.last:
            return found
    return None


def functions_of(answer) -> list:
    """The Python functions that an answer is made of: itself, or its class's methods."""
    classes = [c for c in getattr(answer, "__mro__", ()) if not c.__module__.startswith("torch")]
    parts = [part for c in classes for part in vars(c).values()] or [answer]
    unwrapped = [inspect.unwrap(part) for part in parts if callable(part)]
    return [f for f in unwrapped if inspect.isfunction(f)]


def names_in(code) -> set[str]:
    """The names in a code object that are not local ones; those of attributes are among them."""
    inner = [part for part in code.co_consts if inspect.iscode(part)]
    return set(code.co_names).union(*map(names_in, inner))
