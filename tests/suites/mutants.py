"""One-token mutations of Python source: what a slip of the finger or of the mind may do to it."""

import ast
import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.MatMult)
COMPARISONS = {
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.Eq: (ast.NotEq, ast.Lt, ast.Gt),
    ast.Lt: (ast.LtE, ast.Gt, ast.Eq),
    ast.Gt: (ast.GtE, ast.Lt, ast.Eq),
}
MODULES = {"torch", "math", "nn", "F"}
SIBLINGS = (
    {"q_proj", "k_proj", "v_proj", "out_proj"},
    {"d_model", "num_heads", "d_head"},
    {"triu", "tril"},
    {"device", "dtype"},
    {"softmax", "log_softmax", "sigmoid"},
    {"sqrt", "exp", "log"},
    {"float32", "float64"},
)


@dataclass(frozen=True)
class Mutant:
    """source: the mutated text. line: the one line in which it differs. was: that line before."""

    source: str
    line: str
    was: str


def mutants(source: str, first: int = 1, last: float = math.inf) -> Iterator[Mutant]:
    """Yield every distinct one-token mutant of `source` that changes one of lines first to last."""
    tree = ast.parse(source)
    original = ast.unparse(tree).splitlines()
    seen = set()
    names = _names(tree)
    for container, key, node in list(_slots(tree)):
        if not first <= _line(container, node) <= last:
            continue
        for other in _alternatives(node, names):
            container[key] = other
            text = ast.unparse(ast.fix_missing_locations(tree))
            container[key] = node
            changed = [
                pair
                for pair in itertools.zip_longest(text.splitlines(), original, fillvalue="")
                if pair[0] != pair[1]
            ]
            if changed and text not in seen and "--" not in text:
                seen.add(text)
                yield Mutant(text, *(line.strip() for line in changed[0]))


def _slots(tree):
    """Yield (container, key, node) for every node: `container[key] = other` puts another there."""
    for parent in ast.walk(tree):
        for field, value in ast.iter_fields(parent):
            if isinstance(value, ast.AST):
                yield vars(parent), field, value
            elif isinstance(value, list):
                for position, item in enumerate(value):
                    if isinstance(item, ast.AST):
                        yield value, position, item


def _line(container, node):
    """The line of a node; of an operator, which has none, that of its operands."""
    if hasattr(node, "lineno"):
        return node.lineno
    return container["lineno"] if isinstance(container, dict) and "lineno" in container else 0


def _names(tree):
    """The names of functions that are called and, apart from them, of variables."""
    called = {n.func.id for n in ast.walk(tree) if _calls_a_name(n)}
    used = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
    return called, used - called - MODULES - {"self"}


def _calls_a_name(node):
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name)


def _alternatives(node, names):
    """Yield what may stand in the place of `node`."""
    match node:
        case ast.operator():
            yield from (other() for other in OPERATORS)
        case ast.cmpop():
            yield from (other() for other in COMPARISONS[type(node)])
        case ast.Constant():
            yield from map(ast.Constant, _values(node.value))
        case ast.Name(id=name, ctx=ast.Load()):
            for group in names:
                yield from (ast.Name(n) for n in sorted(group) if name in group)
        case ast.Attribute(value=value, attr=attr):
            for group in SIBLINGS:
                yield from (ast.Attribute(value, n) for n in sorted(group) if attr in group)
        case ast.BinOp(left=left, op=op, right=right):
            yield from (left, right, ast.BinOp(right, op, left))
        case ast.UnaryOp(operand=operand):
            yield operand
        case ast.IfExp(test=test, body=body, orelse=orelse):
            yield from (body, orelse, ast.IfExp(test, orelse, body))
        case ast.Tuple(elts=elements, ctx=context):
            yield from (ast.Tuple(some, context) for some in _swapped(elements))
        case ast.Call():
            yield from _calls(node)
        case ast.If(body=[only], orelse=[]):
            yield from (only, ast.Pass())
        case ast.Assign() | ast.AugAssign():
            yield ast.Pass()


def _values(value):
    """Other constants of the same kind."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int | float):
        return [value + 1, value - 1, 2 * value, -value]
    return {"-inf": ["inf", "nan", "0"], "inf": ["-inf", "nan", "0"]}.get(value, [])


def _swapped(items):
    """The same items with two neighbours exchanged, or with one left out."""
    for i in range(len(items) - 1):
        yield [*items[:i], items[i + 1], items[i], *items[i + 2 :]]
    for i in range(len(items)):
        yield [*items[:i], *items[i + 1 :]]


def _calls(call):
    """The call dropped, its arguments exchanged or left out."""
    if _is_method(call.func):
        yield call.func.value
    elif call.args:
        yield call.args[0]
    yield from (ast.Call(call.func, args, call.keywords) for args in _swapped(call.args))
    yield from (ast.Call(call.func, call.args, some) for some in _left_out(call.keywords))


def _is_method(function):
    if not isinstance(function, ast.Attribute):
        return False
    owner = function.value
    return not (isinstance(owner, ast.Name) and owner.id in MODULES | {"self"})


def _left_out(items):
    return (items[:i] + items[i + 1 :] for i in range(len(items)))
