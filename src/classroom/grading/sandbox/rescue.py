"""What a cell defines, run by itself: where a cell fails only here, its names are not to go along.

A learner's notebook has run elsewhere, on Colab perhaps or beside a file that was not handed in.
Below the statement that fails here stand others that would have run: definitions, imports and
assignments do, each by itself; whatever else a cell does is left out.
"""

import __future__

import ast
import contextlib
import copy
import io

LATER = __future__.annotations.compiler_flag  # annotations may name what is not installed
ANNOTATED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.AnnAssign)
DEFINITIONS = (*ANNOTATED[:3], ast.Import, ast.ImportFrom)
ASSIGNMENTS = (ast.Assign, ast.AnnAssign, ast.AugAssign)
PLAIN = (
    ast.Constant, ast.Name, ast.Attribute, ast.Tuple, ast.List, ast.Dict, ast.Set, ast.UnaryOp,
    ast.unaryop, ast.expr_context,
)  # fmt: skip
COMPOUND = (ast.If, ast.Try, ast.With)
WITH_A_BODY = ("time", "timeit", "capture", "prun")  # cell magics that run the cell


class Rescue:
    """Runs statements in `names`, under the file name that IPython gave the cell.

    defined: the names that they defined. missing: those that they did not.
    """

    def __init__(self, names: dict, filename: str):
        self._names = names
        self._filename = filename
        self._was_stopped = False
        self.defined = []
        self.missing = []

    def run(self, statements: list[ast.stmt], only_plain: bool = False):
        """only_plain: leave out the assignments that compute something."""
        for statement in statements:
            if is_rescued(statement, only_plain or self._was_stopped) and self._runs(statement):
                self.defined += names_of(statement)
            else:
                self.missing += names_of(statement)

    def _runs(self, statement):
        return any(map(self._runs_as, _ways(statement)))

    def _runs_as(self, way):
        statement, flags = way
        nothing = io.StringIO()
        try:
            tree = ast.Module([statement], [])
            code = compile(tree, self._filename, "exec", flags, dont_inherit=True)
            with contextlib.redirect_stdout(nothing), contextlib.redirect_stderr(nothing):
                exec(code, self._names)
        except BaseException as error:
            self._was_stopped |= isinstance(error, KeyboardInterrupt)
            return False
        return True


def from_failure(text: str, error: BaseException, filename: str) -> list[ast.stmt]:
    """The statements of a cell from the one on that raised `error`, taken apart where they need not
    fail together."""
    statements = parse(text)
    line = _line_of(error, filename)
    at = next((i for i, s in enumerate(statements) if (s.end_lineno or 0) >= line), None)
    if at is None or line == 0:
        return []
    return [*_taken_apart(statements[at]), *statements[at + 1 :]]


def parse(text: str) -> list[ast.stmt]:
    """The statements of a cell; none where it is not Python."""
    try:
        return ast.parse(text).body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return []


def below_magic(cell: str) -> str | None:
    """What a cell magic such as %%time runs, or None where there is none."""
    first, _, rest = cell.lstrip().partition("\n")
    name = first.removeprefix("%%").split(" ")[0]
    return rest if first.startswith("%%") and name in WITH_A_BODY else None


def is_rescued(statement: ast.stmt, only_plain: bool = False) -> bool:
    """Whether a statement is one that only defines."""
    if isinstance(statement, DEFINITIONS):
        return True
    if isinstance(statement, ASSIGNMENTS):
        return not only_plain or _is_plain(statement.value)
    if not isinstance(statement, COMPOUND):
        return False
    parts = [s for s in _parts(statement) if not isinstance(s, ast.Pass)]
    return all(is_rescued(part, only_plain) for part in parts)


def names_of(statement: ast.stmt) -> list[str]:
    """The names that a statement would define."""
    match statement:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            return [a.asname or a.name.split(".")[0] for a in names if a.name != "*"]
        case ast.Assign(targets=targets):
            return [n.id for t in targets for n in ast.walk(t) if _is_stored(n)]
        case ast.AnnAssign(target=ast.Name(id=name)) | ast.AugAssign(target=ast.Name(id=name)):
            return [name]
    if isinstance(statement, COMPOUND):
        return [name for part in _parts(statement) for name in names_of(part)]
    return []


def _is_plain(value):
    """Whether an expression computes nothing."""
    return value is None or all(isinstance(node, PLAIN) for node in ast.walk(value))


def _is_stored(node):
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def _parts(statement):
    """The statements within a compound one."""
    handlers = [s for handler in getattr(statement, "handlers", []) for s in handler.body]
    after = [*getattr(statement, "orelse", []), *getattr(statement, "finalbody", [])]
    return [*statement.body, *handlers, *after]


def _taken_apart(statement):
    """A statement that failed, as those of its parts that need not."""
    if isinstance(statement, ast.Import):
        return [ast.copy_location(ast.Import([name]), statement) for name in statement.names]
    if isinstance(statement, COMPOUND):
        return [piece for part in statement.body for piece in _taken_apart(part)]
    return [statement]


def _ways(statement):
    """How a statement may be run, until one succeeds."""
    yield statement, 0
    if isinstance(statement, ANNOTATED):
        yield statement, LATER
    if getattr(statement, "decorator_list", None):
        bare = copy.copy(statement)
        bare.decorator_list = []
        yield bare, LATER


def _line_of(error, filename):
    """Where in the cell itself an error came to pass; 0 where that is not known."""
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == filename:
            return trace.tb_lineno
        trace = trace.tb_next
    return 0
