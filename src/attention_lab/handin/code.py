"""What the Python of a cell defines, without running it."""

import ast
import re
import warnings
from collections.abc import Iterator
from functools import lru_cache

MOST_DOTS = 5000
MOST_MAGICS = 100
_MAGIC_LINE = re.compile(r"^[ \t]*[%!?]|= *[%!]|\?[ \t]*$", re.M)
_PYTHON_MAGICS = {"capture", "prun", "time", "timeit"}
_STUBS = {"NotImplementedError", "NotWrittenYet"}
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def same(one: str, other: str) -> bool:
    """Whether two texts are the same but for blanks at the ends of lines and of the text."""
    return _lines(one) == _lines(other)


def defines(source: str, name: str) -> bool:
    """Whether running the cell gives `name` a meaning: a function, a class, a variable, an import.

    A cell that is no Python defines nothing.
    """
    return name in source and name in defined(source)


def seems_to_define(source: str, name: str) -> bool:
    """Whether a cell that may be no Python has a line that begins a function or class `name`."""
    return re.search(rf"^(def|async +def|class) +{re.escape(name)}\b", source, re.M) is not None


@lru_cache(maxsize=1024)
def defined(source: str) -> frozenset[str]:
    """All names that a cell gives a meaning."""
    tree = parse(source)
    return frozenset(_names(tree.body)) if tree else frozenset()


def imports(source: str, package: str) -> bool:
    """Whether a cell imports a package, or from it, at any depth."""
    if package not in source:
        return False
    tree = parse(source)
    if tree is None:
        return seems_to_import(source, package)
    return package in {module.split(".")[0] for node in ast.walk(tree) for module in _modules(node)}


def seems_to_import(text: str, package: str) -> bool:
    """Whether a text that may be no Python reads as if it imported a package."""
    return re.search(rf"\b(from|import)\s+{re.escape(package)}\b", text) is not None


def is_blank(source: str) -> bool:
    """Whether a cell of code holds nothing but comments."""
    tree = parse(source)
    return tree is not None and not tree.body


def answers(source: str, name: str) -> bool:
    """Whether a cell defines `name`, and as something else than a stub."""
    return defines(source, name) and not _holds_stub(source, name)


@lru_cache(maxsize=1024)
def _holds_stub(source, name):
    tree = parse(source)
    if any(map(_raises_stub, tree.body)):
        return True
    nodes = [node for node in ast.walk(tree) if getattr(node, "name", None) == name]
    definitions = [node for node in nodes if isinstance(node, _DEFINITIONS)]
    return bool(definitions) and _is_stub(max(definitions, key=lambda node: node.lineno))


def begins_indented(source: str) -> bool:
    """Whether the first line of code is indented, as in the second half of a function."""
    first = next((line for line in source.splitlines() if line.strip()), "")
    return first[:1] in (" ", "\t")


@lru_cache(maxsize=1024)
def parse(source: str) -> ast.Module | None:
    """The syntax tree of a cell, its magics turned into calls; None if it is no Python."""
    python = _without_magic(source)
    if _has_long_name(python):
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "invalid escape sequence" is none of our business
        return _tree(python) or _tree(python, as_cell=True)


def _has_long_name(text):
    """Whether a name has so many dots that to read it takes Python the square of that."""
    if text.count(".") <= MOST_DOTS:
        return False
    runs = re.findall(r"[\w.]+", "".join(text.split()))
    return any(run.count(".") > MOST_DOTS for run in runs)


def _tree(text, as_cell=False):
    try:
        return ast.parse(_as_python(text) if as_cell else text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _as_python(cell):
    """What IPython makes of magics, shell commands, prompts."""
    from IPython.core.inputtransformer2 import TransformerManager  # few cells need it

    if len(_MAGIC_LINE.findall(cell)) > MOST_MAGICS:
        raise SyntaxError("IPython looks at the whole cell again for each magic")
    return TransformerManager().transform_cell(cell)


def _without_magic(source):
    """A cell below `%%time` and the like is Python; below any other such magic it is not."""
    first, _, rest = source.lstrip().partition("\n")
    if not first.startswith("%%"):
        return source
    return rest if first[2:].split(" ")[0] in _PYTHON_MAGICS else ""


def _lines(text):
    return [line.rstrip() for line in text.strip().splitlines()]


def _modules(node):
    if isinstance(node, ast.ImportFrom):
        return [node.module] if node.level == 0 else []
    return [alias.name for alias in node.names] if isinstance(node, ast.Import) else []


def _names(statements) -> Iterator[str]:
    """Names that statements define, in their order; blocks in blocks as deep as they may be."""
    waiting = list(reversed(statements))
    while waiting:
        statement = waiting.pop()
        if isinstance(statement, _DEFINITIONS):
            yield statement.name
        elif isinstance(statement, ast.Import | ast.ImportFrom):
            yield from (alias.asname or alias.name.split(".")[0] for alias in statement.names)
        elif isinstance(statement, ast.Assign | ast.AnnAssign):
            targets = getattr(statement, "targets", None) or [statement.target]
            for node in (node for target in targets for node in ast.walk(target)):
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    yield node.id
        else:
            blocks = ("body", "orelse", "finalbody", "handlers")
            inside = [inner for block in blocks for inner in getattr(statement, block, [])]
            waiting += reversed(inside)


def _is_stub(node):
    """A function that does nothing but raise, or a class with such a method."""
    if isinstance(node, ast.ClassDef):
        return any(map(_only_raises, node.body))
    return _only_raises(node)


def _only_raises(node):
    if not isinstance(node, ast.FunctionDef):
        return False
    body = node.body[1:] if ast.get_docstring(node) is not None else node.body
    return len(body) == 1 and _raises_stub(body[0])


def _raises_stub(statement):
    if not isinstance(statement, ast.Raise):
        return False
    raised = statement.exc
    raised = raised.func if isinstance(raised, ast.Call) else raised
    return isinstance(raised, ast.Name) and raised.id in _STUBS
