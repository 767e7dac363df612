"""An IPython shell that runs the cells of a notebook and keeps what they show."""

import contextlib
import copy
import traceback
from collections.abc import Iterable

from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from traitlets import Instance
from traitlets.config import Config

from . import rescue
from .cells import Compiler, Transformer
from .recorder import Recorder, Stream


class Publisher(DisplayPublisher):
    """Takes what `display()` shows."""

    def publish(self, data, metadata=None, source=None, *, transient=None, update=False, **_):
        self.shell.recorder.display(data, (transient or {}).get("display_id"), update)

    def clear_output(self, wait=False):
        self.shell.recorder.clear(wait)


class ResultHook(DisplayHook):
    """Takes the value of a cell's last expression."""

    def write_output_prompt(self):
        pass

    def write_format_data(self, format_dict, md_dict=None):
        self.shell.recorder.result(format_dict, self.prompt_count)

    def finish_displayhook(self):
        self._is_active = False

    def semicolon_at_end_of_expression(self, expression):
        return ";" in expression and super().semicolon_at_end_of_expression(expression)


class Shell(InteractiveShell):
    """IPython as a notebook's kernel has it, without the kernel.

    error: what the last cell raised, or None.
    """

    display_pub_class = Publisher
    displayhook_class = ResultHook
    compiler_class = Compiler
    input_transformer_manager = Instance(Transformer, ())

    def __init__(self, **kwargs):
        self.recorder = Recorder(limit=0)
        self.error = None
        super().__init__(**kwargs)

    def enable_matplotlib(self, gui=None):
        """Whatever kind of pictures was asked for, there are those that a notebook can keep."""
        return super().enable_matplotlib("inline")

    def run_line_magic(self, magic_name, line, _stack_depth=1):
        """What is not installed here may have been where the notebook was written."""
        if self.find_line_magic(magic_name) is None:
            return self._is_not_here(f"%{magic_name}")
        try:
            return super().run_line_magic(magic_name, line, _stack_depth + 1)
        except ImportError:
            if magic_name != "load_ext":
                raise
        return self._is_not_here(f"%load_ext {line}")

    def run_cell_magic(self, magic_name, line, cell):
        """One that is not here runs the cell."""
        if self.find_cell_magic(magic_name) is not None:
            return super().run_cell_magic(magic_name, line, cell)
        self._is_not_here(f"%%{magic_name}")
        return self.ex(self.transform_cell(cell))

    def _is_not_here(self, what):
        print(f"{what} is not here and does nothing.")

    def enable_gui(self, gui=None):
        """There is no event loop to integrate with; `%matplotlib inline` asks for none."""

    def _tee(self, channel):
        """IPython would keep a second copy of all that is printed, without bound."""
        return contextlib.nullcontext()

    def _format_exception_for_storage(self, *_, **__):
        """IPython would render every error a second time, for its history: an endless recursion
        for half a minute."""

    def should_run_async(self, raw_cell, *, transformed_cell, **options):
        """IPython would compile the whole cell to find out."""
        return ("await" in transformed_cell or "async" in transformed_cell) and (
            super().should_run_async(raw_cell, transformed_cell=transformed_cell, **options)
        )

    def transform_ast(self, node):
        """Whoever transforms the tree of a cell transforms a copy: the compiler keeps the tree."""
        return super().transform_ast(copy.deepcopy(node) if self.ast_transformers else node)

    def learn(self, sources: Iterable[str]):
        """Compile cells ahead of their being run, here or in a process forked from this one. One
        that cannot be compiled says so when it is run."""
        for source in sources:
            with contextlib.suppress(Exception):
                self.compile.learn(self.transform_cell(source))

    def run(self, source: str) -> tuple[int, list[dict]]:
        """Run one cell; return its execution count and its outputs."""
        self.recorder.begin()
        count = self.execution_count
        with (
            contextlib.redirect_stdout(Stream(self.recorder, "stdout")),
            contextlib.redirect_stderr(Stream(self.recorder, "stderr")),
        ):
            self.error = self.run_cell(source, store_history=True).error_in_exec
        return count, self.recorder.finished()

    def rescue(self, source: str) -> tuple[list[str], list[str]]:
        """Run what the last cell, which was `source` and has failed, defines from there on; return
        the names that it defined, and those that it did not."""
        found, filename = self._rescue(source)
        was_stopped = isinstance(self.error, KeyboardInterrupt)
        if (below := rescue.below_magic(source)) is not None:
            statements = rescue.parse(self.transform_cell(below))
        else:
            text = self.transform_cell(source)
            statements = rescue.from_failure(text, self.error, filename)
        found.run(statements, only_plain=was_stopped)
        return found.defined, found.missing

    def define(self, source: str):
        """Run nothing of a cell but what it defines without computing anything."""
        found, _ = self._rescue(source)
        below = rescue.below_magic(source)
        text = self.transform_cell(source if below is None else below)
        found.run(rescue.parse(text), only_plain=True)

    def _rescue(self, source):
        filename = self.compile.get_code_name(source, self.transform_cell(source), 0)
        return rescue.Rescue(self.user_ns, filename), filename

    def showtraceback(self, exc_tuple=None, *_, **__):
        """Record the exception, with the frames that lie in cells."""
        kind, value, trace = self._get_exc_info(exc_tuple)
        if isinstance(value, UsageError):
            lines = [f"UsageError: {value}"]
        else:
            lines = _friendly(value) or self._frames(trace) + _last_lines(kind, value)
        self.recorder.error(kind.__name__, _message(value), lines)

    def showsyntaxerror(self, *_, **__):
        self.showtraceback()

    def _frames(self, trace):
        frames = [
            f"{self._place(frame)}: {frame.line}"
            for frame in traceback.extract_tb(trace)
            if self._is_cell(frame.filename)
        ]
        return frames if len(frames) <= 10 else [*frames[:5], "...", *frames[-5:]]

    def _is_cell(self, filename):
        return filename in self.compile._filename_map

    def _place(self, frame):
        return f"In [{self.compile._filename_map[frame.filename]}], line {frame.lineno}"


def _friendly(value):
    """What an exception says for itself, in IPython's own way; None if nothing sensible."""
    render = getattr(value, "_render_traceback_", None)
    if render is None:
        return None
    try:
        lines = render()
    except Exception:
        return None
    if not isinstance(lines, list):
        return None
    return [str(line) for line in lines]


def _last_lines(kind, value):
    try:
        return "".join(traceback.format_exception_only(kind, value)).splitlines()
    except Exception:
        return [kind.__name__]


def _message(value):
    try:
        return str(value)
    except Exception:
        return ""


def make_shell(output_limit: int, results_kept: int = 1000) -> Shell:
    """Return the process's shell, with matplotlib's pictures inline as in a notebook.

    results_kept: how many results `Out` remembers; 0 makes `reset` quicker.
    """
    config = Config()
    config.InteractiveShell.cache_size = results_kept
    config.HistoryManager.enabled = False
    config.HistoryManager.hist_file = ":memory:"
    config.InteractiveShell.colors = "nocolor"
    shell = Shell.instance(config=config)
    shell.recorder.limit = output_limit
    shell.enable_matplotlib("inline")
    return shell
