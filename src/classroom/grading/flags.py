"""What a human should look at in a submission. A flag costs nothing."""

import ast
import re
from collections.abc import Iterable, Iterator

from attention_lab.handin import code

SUSPICIOUS = re.compile(
    r"MultiheadAttention|multi_head_attention_forward|_native_multi_head_attention"
    r"|_?scaled_dot_product_\w*attention\w*"
    r"|Transformer(Encoder|Decoder)?(Layer)?|_transformer_encoder_layer_fwd"
    r"|_C|ctypes|gc|jit|multiprocessing|subprocess|threading|_thread"
)
CHECKS = (("attention_lab", "check"), ("attention_lab", "observation"))  # and what is in them
AS_THE_LESSON = ("attention_lab", "check")  # `from attention_lab import check`
PATH = re.compile(r"\w+(\.\w+)*")
# Calls whose text is code.
RUN = {
    "eval", "exec", "compile", "ex", "ev", "run_cell", "run_cell_magic", "run_line_magic",
}  # fmt: skip
MAGIC = re.compile(r"\s*%%.*\n?")
OPTIONS = re.compile(r"(\s*-\S+(\s+\d+)?)*\s*")  # of a line magic, before its code
DEEPEST = 3  # code in texts in code


def mentions(source: str) -> set[str]:
    """The suspicious names that a cell's code mentions, as Python itself reads it: names are in
    normal form, and a text is one if it is an argument or an index, however it is put together.
    Comments and other texts do not count.
    """
    return set(_suspicious(_paths(source, DEEPEST)))


def flags(changed: Iterable[str]) -> list[str]:
    """What to look at, in words, of what a submission changed about the process that hosts it."""
    return [f"changed its host's {thing}" for thing in changed]


def _suspicious(paths: Iterable[tuple[str, ...]]) -> Iterator[str]:
    for path in paths:
        yield from filter(SUSPICIOUS.fullmatch, path)
        if path[:2] in CHECKS:
            yield ".".join(path[:2])


def _paths(source: str, deep: int) -> Iterator[tuple[str, ...]]:
    """Every name in the code, with what stands before and after its dots."""
    tree = code.parse(_without_magics(source)) if deep else None
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, ast.Name | ast.Attribute):
            yield _dotted(node)
        elif isinstance(node, ast.Import):
            yield from (tuple(alias.name.split(".")) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = tuple((node.module or "").split("."))
            taken = ((*module, alias.name) for alias in node.names)
            yield from (path if path != AS_THE_LESSON else ("check",) for path in taken)
        elif isinstance(node, ast.Call):
            given = [*node.args, *(keyword.value for keyword in node.keywords)]
            texts = [text for text in map(_text, given) if text is not None]
            yield from _named(texts)
            if _dotted(node.func)[-1:] and _dotted(node.func)[-1] in RUN:
                for text in texts:
                    yield from _paths(text[OPTIONS.match(text).end() :], deep - 1)
        elif isinstance(node, ast.Subscript):
            yield from _named(filter(None, [_text(node.slice)]))


def _without_magics(source: str) -> str:
    """A cell below its `%%` lines: whatever they do with it, it is read as Python."""
    while magic := MAGIC.match(source):
        source = source[magic.end() :]
    return source


def _named(texts: Iterable[str]) -> Iterator[tuple[str, ...]]:
    return (tuple(text.split(".")) for text in texts if PATH.fullmatch(text))


def _dotted(node: ast.expr) -> tuple[str, ...]:
    """
    >>> _dotted(ast.parse("torch.nn.functional", mode="eval").body)
    ('torch', 'nn', 'functional')
    """
    names = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    names.append(node.id if isinstance(node, ast.Name) else "")
    return tuple(reversed(names))


def _text(node: ast.expr) -> str | None:
    """The text that an expression of constants is; None if it is none."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _joined("", [left, right])
        case ast.JoinedStr(values=parts):
            return _joined("", parts)
        case ast.FormattedValue(value=value):
            return _text(value)
        case ast.Call(
            func=ast.Attribute(value=ast.Constant(value=str(separator)), attr="join"),
            args=[ast.List(elts=parts) | ast.Tuple(elts=parts)],
        ):
            return _joined(separator, parts)
    return None


def _joined(separator: str, parts: Iterable[ast.expr]) -> str | None:
    texts = [_text(part) for part in parts]
    return None if None in texts else separator.join(texts)
