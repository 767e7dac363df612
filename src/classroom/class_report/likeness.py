"""Submissions that resemble each other more than chance would have it.

Answers are compared without comments, docstrings, annotations and layout, and whatever the
learner's own variables are called. A short answer is naturally the same for many, so no single one
counts: two submissions belong together if all their answers, but for one at most, are the same, and
these answers together are rare in the class. Rare means: had everybody chosen each answer by
itself, as often as the class did, such a pair would hardly be met.
"""

import ast
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from math import log2
from warnings import catch_warnings, simplefilter

LONGEST = 20_000  # characters; longer code is compared as text
# Among n students there are about n²/2 pairs. Agreement worth 2·log2(n) bits is expected in half a
# pair; one more log2(n) makes up for answers of one person that go together.
TIMES_LOG = 3

Answers = frozenset[tuple[str, str]]  # pairs of a step and what was written, in normal form


@dataclass(frozen=True)
class Group:
    """Submissions that belong together. alike: the steps in which all of them are the same.
    alone: those of them in which nobody else in the class wrote the same."""

    students: Sequence[str]
    alike: Sequence[str]
    alone: Sequence[str]


def groups(answers: Mapping[str, Mapping[str, str]]) -> list[Group]:
    """Group submissions, given each student's code by step; the largest group first."""
    normal = {
        student: frozenset((step, normal_form(code)) for step, code in written.items())
        for student, written in answers.items()
    }
    often = Counter(answer for written in normal.values() for answer in written)
    if len(normal) < 2:
        return []
    bits = {answer: log2(len(normal) / count) for answer, count in often.items()}
    enough = TIMES_LOG * log2(len(normal))
    same = defaultdict(set)
    for student, written in normal.items():
        for part in _parts(written):
            same[part].add(student)
    related = [
        students
        for part, students in same.items()
        if len(students) > 1 and sum(bits[answer] for answer in part) >= enough
    ]
    found = [_group(members, normal, often) for members in _joined(related)]
    return sorted(found, key=lambda group: (-len(group.students), group.students))


@lru_cache(maxsize=10_000)
def normal_form(code: str) -> str:
    """What two codes have in common that differ in layout, comments and names of variables.

    >>> normal_form("def f(x):  # twice\\n    y = x\\n    return y") == normal_form(
    ...     "def f(a: int):\\n    'Twice.'\\n    b = a\\n    return b")
    True
    """
    if len(code) <= LONGEST:
        with suppress(SyntaxError, ValueError, RecursionError, MemoryError), catch_warnings():
            simplefilter("ignore")
            return ast.dump(_Plain().visit(ast.parse(code)))
    return " ".join(code.split())


class _Plain(ast.NodeTransformer):
    """Leaves out what does not matter, and numbers the variables in the order of their use."""

    def __init__(self):
        self.names: dict[str, str] = {}

    def visit_Module(self, node: ast.Module) -> ast.AST:
        bound = (self._bound_name(part) for part in ast.walk(node))
        self.bound = {name for name in bound if name}
        return self._body(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        return self._body(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return self._body(node)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        node.arg = self._number(node.arg)
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        node.id = self._number(node.id)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | None:
        if node.value is None:
            return None
        return self.visit(ast.Assign([node.target], node.value, lineno=node.lineno))

    def _body(self, node):
        first = node.body[0] if node.body else None
        if isinstance(first, ast.Expr) and isinstance(getattr(first.value, "value", None), str):
            node.body = node.body[1:]
        return self.generic_visit(node)

    def _number(self, name: str) -> str:
        if name not in self.bound:
            return name
        return self.names.setdefault(name, f"v{len(self.names)}")

    @staticmethod
    def _bound_name(node: ast.AST) -> str | None:
        if isinstance(node, ast.arg):
            return node.arg
        stored = isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        return node.id if stored else None


def _parts(written: Answers) -> Iterator[Answers]:
    """All answers of a submission, and all but one of them."""
    yield written
    for answer in written:
        yield written - {answer}


def _joined(related: Sequence[set[str]]) -> list[set[str]]:
    """Sets that have a member in common, made one."""
    found: list[set[str]] = []
    for members in related:
        apart = [group for group in found if not group & members]
        joined = set(members).union(*(group for group in found if group & members))
        found = [*apart, joined]
    return found


def _group(members: set[str], normal: Mapping[str, Answers], often: Counter) -> Group:
    common = frozenset.intersection(*(normal[student] for student in members))
    alone = [step for step, code in common if often[step, code] == len(members)]
    return Group(sorted(members), sorted(step for step, _ in common), sorted(alone))
