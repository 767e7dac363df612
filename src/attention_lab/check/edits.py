"""Small edits of a learner's own code, as changes of its text: the tokens that a slip touches.

Pure: nothing here runs an answer or knows what is right.
"""

import ast
import builtins
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, pairwise, permutations

# What stands there gives way to something else, or nothing; or something is added to it.
GROUPS = EXCHANGED, PUT_IN, COMBINED = range(3)
OPERATORS = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.MatMult: "@",
    ast.FloorDiv: "//", ast.Pow: "**",
}  # fmt: skip
COMPARISONS = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
    ast.Is: "is", ast.IsNot: "is not",
}  # fmt: skip
LIBRARIES = {"torch", "nn", "F", "math", "np", "numpy", "einops"}
AXES = (-1, -2, 1, 0, 2, -3, 3)
INFINITIES = ("float('-inf')", "0.0", "1.0")
SIBLINGS = (
    ("triu", "tril"),
    ("device", "dtype"),
    ("softmax", "log_softmax", "sigmoid"),
    ("sqrt", "exp", "log"),
    ("float16", "bfloat16", "float32", "float64"),
    ("zeros", "ones"),
    ("sum", "mean"),
    ("float", "double"),
    ("view", "reshape"),
    ("repeat", "repeat_interleave"),
)
MOVED = {"transpose", "swapaxes", "swapdims", "permute", "view", "reshape", "unflatten", "flatten"}
CALLS = (
    ("axes", ".transpose(-2, -1)"),
    ("axes", ".transpose(1, 2)"),
    ("copy", ".contiguous()"),
    ("copy", ".clone()"),
    ("softmax", ".softmax(-1)"),
    ("mask", ".triu(1)"),
    ("axes", ".flatten(2)"),
    ("index", "[0]"),
)
RANK = (  # of kinds of edits in their group, the most telling of which are tried first
    "axis", "flag", "number", "sign", "operator", "comparison", "condition", "condition dropped",
    "in place", "call dropped", "operand dropped", "argument dropped", "element alone", "brackets",
    "axes", "root", "scale", "argument put in", "copy", "statement dropped", "condition put in",
)  # fmt: skip
TENSOR_SIGNS = ("+", "@", "/", "*", "-")


@dataclass(frozen=True)
class Edit:
    """A change of a text: its bytes from start to end give way to `text`.

    kind: what sort of slip it undoes. line: where it is, counted from 1.
    """

    kind: str
    line: int
    start: int
    end: int
    text: str

    def applied_to(self, source: bytes) -> bytes:
        return source[: self.start] + self.text.encode() + source[self.end :]


def edits(source: str, beside: tuple[str, ...] = ()) -> tuple[list[Edit], ...]:
    """Return the small edits of a definition in GROUPS, likelier ones first.

    beside: names of further functions that the code may call.
    """
    tree = ast.parse(source)
    found = tuple([] for _ in GROUPS)
    for function in _functions(tree):
        finder = _Edits(source, _Scope(tree, function, beside))
        for size, edit in finder.of(function):
            found[size].append(edit)
    return tuple(sorted(group, key=_rank) for group in found)


def _rank(edit):
    return RANK.index(edit.kind) if edit.kind in RANK else len(RANK)


def _functions(tree):
    """The functions that are edited one by one: that of the text, or the methods of its class."""
    (definition,) = (n for n in tree.body if isinstance(n, ast.FunctionDef | ast.ClassDef))
    if isinstance(definition, ast.FunctionDef):
        return [definition]
    return [n for n in definition.body if isinstance(n, ast.FunctionDef)][::-1]


class _Scope:
    """The names that may stand in a function's expressions."""

    def __init__(self, tree, function, beside):
        nodes = list(ast.walk(function))
        named = [n for n in nodes if isinstance(n, ast.Name)]
        stored = dict.fromkeys(n.id for n in named if isinstance(n.ctx, ast.Store))
        self.parameters = [n.arg for n in nodes if isinstance(n, ast.arg)]
        local = dict.fromkeys([*self.parameters, *stored])
        called = {n.func.id for n in nodes if _calls_a_name(n)} - LIBRARIES
        if called & set(self.parameters):
            called |= set(self.parameters)
        self.called = sorted(called.union(beside))
        self.tests = list(_tests(function.args))
        functions = called - set(self.parameters)
        self.names = [n for n in local if n not in ("self", "_") and n not in functions]
        free = dict.fromkeys(n.id for n in named if n.id not in local)
        known = {*LIBRARIES, *functions, *beside, *dir(builtins)}
        self.missing = [name for name in free if name not in known]
        self.sizes = set(_sizes(nodes))
        self.is_constructor = function.name == "__init__"
        has_self = "self" in local
        layers = {n.func.attr for n in ast.walk(tree) if _calls_of_self(n)} | set(_made(tree))
        own = {n.attr for n in ast.walk(tree) if _of_self(n)}
        self.own = sorted(own - layers) if has_self else []
        self.layers = sorted(layers) if has_self else []

    @property
    def operands(self):
        """What may be put beside an operator."""
        return [*self.names, *(f"self.{name}" for name in self.own)]

    def is_size(self, node):
        """Whether an expression is a size, as far as can be told from its text."""
        match node:
            case ast.Name(id=name):
                return name in self.sizes
            case ast.Attribute(attr=attr):
                return _of_self(node) and attr in self.own
            case ast.BinOp(left=left, right=right):
                return self.is_size(left) and self.is_size(right)
            case ast.Subscript(value=ast.Attribute(attr="shape")):
                return True
            case ast.Call(func=ast.Attribute(attr="size"), args=[_]):
                return True
        return _signed(node) is not None


def _made(tree):
    """The parts of an instance that a call has made, such as its layers."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            yield from (target.attr for target in node.targets if _of_self(target))


def _tests(arguments):
    """The conditions that may be put before a statement: that an option was given."""
    options = arguments.args[len(arguments.args) - len(arguments.defaults) :]
    for option, default in zip(options, arguments.defaults, strict=True):
        match default:
            case ast.Constant(value=None):
                yield f"{option.arg} is not None"
            case ast.Constant(value=bool()):
                yield option.arg


def _sizes(nodes):
    """The names that are made of a shape."""
    for node in nodes:
        if isinstance(node, ast.Assign) and _is_shape(node.value):
            for target in node.targets:
                yield from (n.id for n in ast.walk(target) if isinstance(n, ast.Name))


def _is_shape(node):
    match node:
        case ast.Attribute(attr="shape") | ast.Call(func=ast.Attribute(attr="size")):
            return True
        case ast.Subscript(value=value):
            return _is_shape(value)
    return False


def _calls_a_name(node):
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name)


def _of_self(node):
    return (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "self"
    )


def _calls_of_self(node):
    return isinstance(node, ast.Call) and _of_self(node.func)


class _Edits:
    """Finds the edits of one function."""

    def __init__(self, source, scope):
        self.source = source.encode()
        self.scope = scope
        self.starts = [0]
        for line in self.source.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))

    def of(self, function) -> Iterator[tuple[int, Edit]]:
        """Yield (size, edit) for everything that stands in a function."""
        arguments = function.args
        for default in (*arguments.defaults, *filter(None, arguments.kw_defaults)):
            yield from self._expression(default, function)
        for decorator in function.decorator_list:
            yield EXCHANGED, self._decorator_dropped(decorator)
        yield from self._block(function.body)

    # --- places in the text ---

    def _span(self, node):
        return (
            self.starts[node.lineno - 1] + node.col_offset,
            self.starts[node.end_lineno - 1] + node.end_col_offset,
        )

    def _text(self, node):
        start, end = self._span(node)
        return self.source[start:end].decode()

    def _instead(self, kind, node, text, line=None):
        return Edit(kind, line or node.lineno, *self._span(node), text)

    def _decorator_dropped(self, node):
        start, end = self._span(node)
        at = self.source.rindex(b"@", 0, start)
        return Edit("decorator dropped", node.lineno, at, end, "")

    # --- statements ---

    def _block(self, body):
        for statement in body:
            yield from self._statement(statement, body)
        for one, other in pairwise(body):
            if not (_is_docstring(one) or _has_blocks(one) or _has_blocks(other)):
                yield PUT_IN, self._swapped(one, other)

    def _swapped(self, one, other):
        (start, end), (begin, stop) = self._span(one), self._span(other)
        between = self.source[end:begin].decode()
        text = self._text(other) + between + self._text(one)
        return Edit("statements swapped", one.lineno, start, stop, text)

    def _statement(self, node, body):
        if _is_docstring(node):
            return
        text = self._text(node)
        if not isinstance(node, ast.Return | ast.FunctionDef | ast.Pass):
            yield PUT_IN, self._instead("statement dropped", node, "pass")
        match node:
            case ast.FunctionDef():
                yield from self.of(node)
                return
            case ast.If(test=test, body=[only], orelse=[]):
                yield EXCHANGED, self._instead("condition dropped", node, self._text(only))
                yield EXCHANGED, self._instead("condition", test, f"not ({self._text(test)})")
            case ast.AugAssign(target=target, op=op, value=value):
                for other, sign in OPERATORS.items():
                    if not isinstance(op, other):
                        text = f"{self._text(target)} {sign}= {self._text(value)}"
                        yield EXCHANGED, self._instead("operator", node, text)
                sign = OPERATORS.get(type(op), "+")
                target, value = self._text(target), self._text(value)
                text = f"{target} = {target} {sign} ({value})"
                yield EXCHANGED, self._instead("in place", node, text)
            case ast.Assign() if len(node.targets) == 1:
                for test in self.scope.tests:
                    yield PUT_IN, self._instead("condition put in", node, f"if {test}: {text}")
            case ast.Expr(value=value):  # what a call makes is kept nowhere
                for name in self.scope.parameters[:3]:
                    yield PUT_IN, self._instead("kept", node, f"{name} = {text}")
                match value:
                    case ast.Call(func=ast.Attribute(value=ast.Name(id=name))):
                        method = self._text(value.func)
                        kept = f"{name} = {method.rstrip('_')}{text[len(method) :]}"
                        yield EXCHANGED, self._instead("in place", node, kept)
        for field, value in ast.iter_fields(node):
            if isinstance(value, ast.expr):
                if field != "annotation":
                    yield from self._expression(value, node)
            elif isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                yield from self._block(value)
            elif isinstance(value, list):
                for item in value:
                    if isinstance(item, ast.withitem):
                        item = item.context_expr
                    if isinstance(item, ast.expr):
                        yield from self._expression(item, node)
        if isinstance(node, ast.With):
            first, last = node.body[0], node.body[-1]
            if first.lineno == last.end_lineno:
                yield EXCHANGED, self._instead("with dropped", node, self._text(first))

    # --- expressions ---

    def _expression(self, node, parent):
        """Yield the edits of an expression and of all that is in it."""
        for size, kind, text, *line in self._alternatives(node, parent):
            yield size, self._instead(kind, node, f"({text})", *line)
        if not isinstance(node, ast.JoinedStr) and _signed(node) is None:
            for child in ast.iter_child_nodes(node):
                child = child.value if isinstance(child, ast.keyword) else child
                if isinstance(child, ast.comprehension):
                    yield from self._expression(child.iter, child)
                elif isinstance(child, ast.Slice):
                    for bound in filter(None, (child.lower, child.upper)):
                        yield from self._expression(bound, child)
                elif isinstance(child, ast.expr):
                    yield from self._expression(child, node)

    def _alternatives(self, node, parent):
        """Yield (size, kind, text) of what may stand in the place of an expression; a line where
        it is not the one on which the expression begins."""
        if isinstance(getattr(node, "ctx", None), ast.Store):
            yield from self._targets(node)
            return
        is_called = isinstance(parent, ast.Call) and node is parent.func
        value = _signed(node)
        if value is not None:
            yield from self._numbers(value, parent)
        match node:
            case ast.Constant(value=bool() as flag):
                yield EXCHANGED, "flag", str(not flag)
                for test in self.scope.tests:
                    yield EXCHANGED, "condition", test
            case ast.Constant(value=str() as text):
                yield from self._texts(text)
            case ast.Name(id=name):
                yield from self._names(name, is_called)
            case ast.Attribute():
                yield from self._attributes(node)
            case ast.BinOp():
                yield from self._operations(node)
            case ast.UnaryOp(operand=operand) if value is None:
                yield EXCHANGED, "sign", self._text(operand)
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                for other, sign in COMPARISONS.items():
                    if not isinstance(op, other):
                        text = f"({self._text(left)}) {sign} ({self._text(right)})"
                        yield EXCHANGED, "comparison", text
                yield EXCHANGED, "comparison", self._text(left)
                yield EXCHANGED, "comparison", self._text(right)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                yield EXCHANGED, "condition dropped", self._text(body)
                yield EXCHANGED, "condition dropped", self._text(orelse)
                text = f"({self._text(orelse)}) if {self._text(test)} else ({self._text(body)})"
                yield EXCHANGED, "condition", text
            case ast.Tuple(elts=elements) | ast.List(elts=elements) if not _has_slice(elements):
                yield from self._sequences(node, elements)
            case ast.Subscript(value=whole):
                yield EXCHANGED, "index dropped", self._text(whole), whole.end_lineno
            case ast.Call():
                yield from self._calls(node)
        if not is_called and not isinstance(node, ast.Tuple | ast.List | ast.GeneratorExp):
            yield from self._additions(node, parent, value)

    def _targets(self, node):
        if isinstance(node, ast.Tuple):
            for some in self._orders(node.elts, [*self.scope.missing, *self.scope.names]):
                yield EXCHANGED, "order", some
        elif isinstance(node, ast.Attribute):
            for other in (*self.scope.own, *self.scope.layers):
                if other != node.attr:
                    yield EXCHANGED, "name", f"{self._text(node.value)}.{other}"

    def _numbers(self, value, parent):
        near = (value + 1, value - 1, -value, value / 2)
        if isinstance(value, float):
            others = (0.5, *near)
            for fill in INFINITIES:
                yield EXCHANGED, "number", fill
        else:
            others = (*AXES, *(int(v) for v in near))
            if isinstance(parent, ast.BinOp):
                yield EXCHANGED, "number", "0.5"
            elif abs(value) > 4:
                for fill in INFINITIES:
                    yield EXCHANGED, "number", fill
        kind = "axis" if isinstance(parent, ast.Call | ast.keyword) else "number"
        for other in dict.fromkeys(others):
            if other != value:
                yield EXCHANGED, kind, repr(other)
        if isinstance(value, int) and value > 0:
            for size in self._sizes():
                yield PUT_IN, "size", size

    def _sizes(self):
        """What may stand for a written size."""
        yield from self.scope.operands
        for name in self.scope.parameters[:3]:
            if name != "self":
                yield from (f"{name}.shape[{axis}]" for axis in (0, 1, 2, -1))

    def _texts(self, text):
        if text.strip("-+") in ("inf", "nan", "0"):
            yield PUT_IN, "number", f"float({text!r})"
            for other in ("-inf", "inf"):
                if other != text:
                    yield EXCHANGED, "number", repr(other)
        if "->" in text:
            yield from self._subscripts(text)

    def _subscripts(self, text):
        letters = sorted({c for c in text if c.isalpha()})
        left, arrow, right = text.partition("->")
        if " " in text.replace(", ", ",").replace(" -> ", "->"):  # einops: words in order
            words = right.split()
            if len(words) <= 5:
                for some in permutations(words):
                    yield EXCHANGED, "order", repr(f"{left}-> {' '.join(some)}")
            return
        for some in permutations(right.strip()):
            yield EXCHANGED, "order", repr(f"{left}->{''.join(some)}")
        for at, letter in enumerate(text):
            if letter.isalpha():
                for other in letters:
                    if other != letter:
                        yield EXCHANGED, "letter", repr(text[:at] + other + text[at + 1 :])
        for one, other in combinations(letters, 2):
            swapped = text.translate({ord(one): other, ord(other): one})
            yield EXCHANGED, "letter", repr(swapped.partition("->")[0] + arrow + right)

    def _names(self, name, is_called):
        if is_called:
            others = self.scope.called
        elif name in self.scope.names:
            others = self.scope.names
        elif name in LIBRARIES or name == "self":
            return
        else:  # a name of the notebook's
            for size in self._sizes():
                yield EXCHANGED, "size", size
            return
        sizes = self.scope.sizes
        for other in others:
            if other != name:
                alike = (other in sizes) is (name in sizes)
                yield EXCHANGED if alike else PUT_IN, "name", other

    def _attributes(self, node):
        owner, attr = self._text(node.value), node.attr
        line = node.end_lineno
        for other in _siblings(attr):
            yield EXCHANGED, "name", f"{owner}.{other}", line
        if attr.endswith("_") and not attr.startswith("_"):
            yield EXCHANGED, "in place", f"{owner}.{attr[:-1]}", line
        if attr in ("T", "mT", "H", "data", "real"):
            yield EXCHANGED, "call dropped", owner, line
            yield EXCHANGED, "axis", f"({owner}).mT", line
        if _of_self(node):
            own, layers = self.scope.own, self.scope.layers
            for other in own if attr in own else layers:
                if other != attr:
                    yield EXCHANGED, "name", f"self.{other}"
            for other in layers if attr in own else own:
                yield PUT_IN, "name", f"self.{other}"
            for name in self.scope.names:
                alike = (attr in own) is (name in self.scope.sizes)
                yield EXCHANGED if alike else PUT_IN, "name", name

    def _operations(self, node):
        left, right = self._text(node.left), self._text(node.right)
        line = node.right.lineno
        yield EXCHANGED, "operand dropped", left, line
        yield EXCHANGED, "operand dropped", right, node.left.lineno
        for other, sign in OPERATORS.items():
            if not isinstance(node.op, other):
                yield EXCHANGED, "operator", f"({left}) {sign} ({right})", line
        sign = OPERATORS.get(type(node.op), "+")
        yield EXCHANGED, "order", f"({right}) {sign} ({left})", line
        if isinstance(node.left, ast.BinOp):  # brackets put elsewhere
            first, inner = self._text(node.left.left), OPERATORS.get(type(node.left.op), "+")
            second = self._text(node.left.right)
            yield EXCHANGED, "brackets", f"({first}) {inner} (({second}) {sign} ({right}))", line
        if isinstance(node.right, ast.BinOp):
            third, inner = self._text(node.right.right), OPERATORS.get(type(node.right.op), "+")
            second = self._text(node.right.left)
            yield EXCHANGED, "brackets", f"(({left}) {sign} ({second})) {inner} ({third})", line

    def _sequences(self, node, elements):
        alike = [f"{f}({self._text(e.args[0])})" for e in elements for f in self._called_as(e)]
        for some in self._orders(elements, dict.fromkeys([*self.scope.operands, *alike])):
            yield EXCHANGED, "order", some
        if len(elements) > 1:
            for element in elements:
                yield EXCHANGED, "element alone", self._text(element)

    def _called_as(self, node):
        """The functions that may take the place of the one that is called with one argument."""
        if isinstance(node, ast.Call) and len(node.args) == 1 and _calls_a_name(node):
            return self.scope.called
        return self.scope.layers and [
            f"self.{n}" for n in self.scope.layers if _calls_of_self(node)
        ]

    def _orders(self, nodes, others=()):
        """The same expressions in another order, one left out, or another put among them."""
        texts = [self._text(node) for node in nodes]
        if len(texts) <= 4:
            orders = (list(some) for some in permutations(texts))
        else:
            orders = (_swapped(texts, i) for i in range(len(texts) - 1))
        for some in orders:
            if some != texts:
                yield ", ".join(some)
        for at in range(len(texts)):
            if len(texts) > 1:
                yield ", ".join(texts[:at] + texts[at + 1 :]) + ","
        for at in range(len(texts) + 1):
            for other in others:
                yield ", ".join([*texts[:at], other, *texts[at:]])

    def _calls(self, node):
        line = node.func.end_lineno
        is_method = isinstance(node.func, ast.Attribute) and not (
            isinstance(node.func.value, ast.Name) and node.func.value.id in LIBRARIES | {"self"}
        )
        if is_method:
            yield EXCHANGED, "call dropped", self._text(node.func.value), line
        elif node.args:
            yield EXCHANGED, "call dropped", self._text(node.args[0]), line
        function = self._text(node.func)
        keywords = [self._text(keyword) for keyword in node.keywords]
        args = [self._text(arg) for arg in node.args]
        if any(isinstance(arg, ast.Starred) for arg in node.args):
            return
        for some in self._orders(node.args):
            yield EXCHANGED, "order", f"{function}({', '.join([some.rstrip(','), *keywords])})"
        for at in range(len(keywords)):
            rest = [*args, *keywords[:at], *keywords[at + 1 :]]
            yield EXCHANGED, "argument dropped", f"{function}({', '.join(rest)})"
        for group, extra in self._arguments():
            if extra.split("=")[0] in (keyword.arg for keyword in node.keywords):
                continue
            for at in range(len(args) + 1) if "=" not in extra else (len(args),):
                some = [*args[:at], extra, *args[at:], *keywords]
                yield group, "argument put in", f"{function}({', '.join(some)})"
        if getattr(node.func, "attr", "") in ("view", "reshape") and len(args) == 4:
            for one, other in ((1, 2), (2, 3), (1, 3)):
                some = list(args)
                some[one], some[other] = some[other], some[one]
                text = f"{function}({', '.join(some)}).transpose({one}, {other})"
                yield PUT_IN, "axes", text

    def _arguments(self):
        """What a call may lack, the likelier half first."""
        likely = ["dim=-1", "-1", "1", "keepdim=True", "diagonal=1"]
        likely += [f"{name}={name}" for name in self.scope.names if name in ("device", "dtype")]
        for name in self.scope.parameters[:3]:
            if name != "self":
                likely += [f"device={name}.device", f"dtype={name}.dtype"]
        yield from ((PUT_IN, extra) for extra in likely)
        others = [*self.scope.operands, *(f"self.{layer}" for layer in self.scope.layers)]
        others += ["2", "0", "dtype=torch.bool", "-math.inf"]
        for name in self.scope.parameters[:3]:
            if name != "self":
                others += [
                    f"{name}.device",
                    f"{name}.dtype",
                    f"{name}.shape[1]",
                    f"({name}, {name})",
                ]
        yield from ((COMBINED, extra) for extra in others)

    def _additions(self, node, parent, value):
        """An operand, a call or a condition put in."""
        text = self._text(node)
        line = node.end_lineno
        if isinstance(node, ast.Constant) and not isinstance(node.value, int | float):
            return
        if value is not None or (isinstance(node, ast.Attribute) and node.attr == "inf"):
            yield PUT_IN, "sign", f"-({text})"
        if value is not None:
            return
        if isinstance(node, ast.Name) and (node.id in LIBRARIES or node.id == "self"):
            return
        is_size = self.scope.is_size(node)
        yield PUT_IN, "root", f"math.sqrt({text})"
        yield PUT_IN, "root", f"({text}) ** 0.5", line
        if not is_size and not self.scope.is_constructor:
            for kind, call in CALLS:
                yield PUT_IN, kind, f"({text}){call}", line
            for function in (*self.scope.called, *(f"self.{n}" for n in self.scope.layers)):
                yield COMBINED, "call put in", f"{function}({text})"
        for operand in self.scope.operands:
            if operand != text:
                yield from self._beside(node, text, operand, is_size, line)

    def _beside(self, node, text, operand, is_size, line):
        """An operand put beside what stands there."""
        with_size = operand in self.scope.sizes or operand.startswith("self.")
        signs = ("//", "*", "/") if is_size else ("/", "*") if with_size else TENSOR_SIGNS
        for sign in signs:
            yield COMBINED, "operand put in", f"({text}) {sign} {operand}", line
        if is_size:
            return
        if isinstance(node, ast.BinOp | ast.Call):
            group = PUT_IN if with_size else COMBINED
            yield group, "scale", f"({text}) / {operand} ** 0.5", line
        if with_size:
            return
        yield COMBINED, "operand put in", f"{operand} @ ({text})", line
        if operand in self.scope.parameters:
            yield PUT_IN, "scale", f"({text}) / {operand}.shape[-1] ** 0.5", line
            yield COMBINED, "operand put in", f"({text}) @ {operand}.mT", line


def _swapped(items, at):
    return [*items[:at], items[at + 1], items[at], *items[at + 2 :]]


def _siblings(name):
    return [other for group in SIBLINGS if name in group for other in group if other != name]


def _signed(node):
    """The number that a constant stands for, with its sign; None for anything else."""
    match node:
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=value)):
            sign = -1
        case ast.Constant(value=value):
            sign = 1
        case _:
            return None
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return sign * value if is_number else None


def _has_slice(nodes):
    return any(isinstance(node, ast.Slice) for node in nodes)


def _is_docstring(node):
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _has_blocks(node):
    return hasattr(node, "body")
