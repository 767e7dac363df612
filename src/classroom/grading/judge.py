"""Runs the course's own cells, outside the sandbox: the only place where a verdict is made."""

from collections.abc import Iterable
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache

from attention_lab import check
from attention_lab.observation import Definition, definition_in
from classroom.grading import handles, outputs
from classroom.grading.deferral import Deferring
from classroom.grading.job import Cell, Job
from classroom.grading.learner import Learner, NoAnswer, Observer
from classroom.grading.sandbox.shell import make_shell
from classroom.grading.verdicts import Verdicts


class CourseError(Exception):
    """A cell of the course's own fails by itself."""


@dataclass(frozen=True)
class Trial:
    """A graded cell that has been run, and the fork of the submission it was run on.

    wants_steps: whether its check would show the submission the course's right steps, to try a
    class without the learner's own; nothing else may be judged after that.
    """

    ran: outputs.Ran
    observer: Observer | None
    wants_steps: bool = False

    @property
    def is_mistake(self) -> bool:
        """Whether its check has found a mistake."""
        return any(output.get("ename") == "Mistake" for output in self.ran.outputs)

    def close(self):
        if self.observer is not None:
            self.observer.close()


class Judge:
    """Judges submissions one after the other with the same numbers, drawn from `seed`.

    questions: encoded requests with which the checks prepared so far begin.
    """

    def __init__(self, seed: int, output_limit: int):
        self._seed = seed
        self.shell = make_shell(output_limit, results_kept=0)
        self._verdicts = Verdicts(check)
        self._prepared = set()
        self.questions = ()
        self._transform = transform = self.shell.transform_cell
        self._names_used = cache(lambda cell: handles.names_used(transform(cell)))
        self._names_defined = cache(lambda cell: handles.names_defined(transform(cell)))

    def prepare(self, job: Job):
        """Have the checks of a job work out what is right, which depends on no submission."""
        graded = dict.fromkeys(cell.source for cell in job.cells if cell.graded)
        graded = [source for source in graded if source not in self._prepared]
        if not graded:
            return
        self.begin(job.setup)
        for source in graded:
            try:
                names = self._names(source)
            except (SyntaxError, ValueError) as error:
                raise CourseError(f"a graded cell is no Python ({error}): {source[:80]}") from None
            self.shell.user_ns.update({name: handles.Nobody(name) for name in names})
            with self._in_place_of_check(Deferring(self._verdicts)):
                self._run_once(source)
        self._prepared.update(graded)
        self.questions = self._verdicts.first_questions()

    def begin(self, setup: tuple[str, ...]):
        """Start over with nothing but the names that the set-up cells define."""
        check.use_seed(self._seed)
        self._verdicts.begin()
        self.shell.reset(new_session=True)
        for source in setup:
            _, shown = self.shell.run(source)
            if errors := [output for output in shown if output["output_type"] == "error"]:
                raise CourseError(f"a set-up cell fails outside the sandbox: {errors[0]['evalue']}")

    def takes(self, source: str) -> set[str]:
        """The names that a cell takes from the learner's others; none if it is not Python."""
        try:
            return set(self._names(source))
        except (SyntaxError, ValueError, RecursionError):
            return set()

    def defines_names(self, source: str) -> bool:
        """Whether a graded cell defines what another may need."""
        return bool(self._names_defined(source))

    def in_order(self, cells: Iterable[Cell]) -> list[Cell]:
        """Graded cells, with none of the submission's between them, in the order to run them: first
        the last, which is about values. They show the shapes, which need not be asked for then.
        As they stand, where one may need what another defines."""
        cells = list(cells)
        if any(self.defines_names(cell.source) for cell in cells):
            return cells
        return cells[::-1]

    def definitions(self, graded: Cell, cells: Iterable[Cell]) -> dict[str, Definition]:
        """The text that defines each of the names that a graded cell takes from the learner; those
        are left out which no cell above it defines, or one below it too."""
        found = {}
        for name in self._names(graded.source):
            for cell in cells:
                if not cell.graded and name in self._defined_by(cell):
                    found[name] = cell.index < graded.index and self._definition(cell, name)
        return {name: definition for name, definition in found.items() if definition}

    def _definition(self, cell, name):
        """The definition as it stands in a cell; IPython drops empty lines, as it makes Python of
        one with magics."""
        plain = definition_in(cell.source, name)
        return plain or definition_in(self._transform(cell.source), name)

    def _defined_by(self, cell):
        try:
            return self._names_defined(cell.source)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return ()

    def run(
        self,
        source: str,
        learner: Learner,
        observer: Observer | None = None,
        count: int = 1,
        definitions: dict[str, Definition] | None = None,
    ) -> Trial:
        """Run one graded cell on what `learner` has defined. The cell's own error costs its points,
        and nothing else does: what went to stderr is left out.

        observer: a fork to run the cell on once more, now with leave to show right steps.
        count: the number to run it under. definitions: where to look for the line that is wrong.
        """
        self.shell.execution_count = count
        names = self._names(source)
        show_steps = observer is not None
        if names and not show_steps and learner.proven.keys() >= set(names):
            ran = self._from_what_is_proven(source, {name: learner.proven[name] for name in names})
            if ran is not None:
                return Trial(ran, None)
        observer = observer or (learner.observer() if names else None)
        try:
            found = handles.bind(names, observer, show_steps, definitions)
        except NoAnswer as reason:
            return Trial(outputs.failed("NoAnswer", str(reason)), observer)
        ran = self._ran_with(found, source)
        functions = [value for value in found.values() if isinstance(value, handles.Handle)]
        learner.proven.update({f.__name__: f.proven for f in functions if f.proven})
        return Trial(ran, observer, any(f.wanted_steps for f in functions))

    def _from_what_is_proven(self, source, proven):
        """What a cell shows, where what is known of its names answers it; None where not."""
        count = self.shell.execution_count
        found = {name: handles.Proven(name, steps) for name, steps in proven.items()}
        ran = self._ran_with(found, source)
        if not any(handle.was_asked for handle in found.values()):
            return ran
        self.shell.execution_count = count
        return None

    def _ran_with(self, found, source):
        self.shell.user_ns.update(found)
        ran = self._ran(source)
        for name in found:
            self.shell.user_ns.pop(name, None)
        return ran

    def _ran(self, source):
        """Run a cell with its visible checks put off; then with them, where they are still open or
        where a mistake can perhaps be shown on trials that the learner knows."""
        count = self.shell.execution_count
        deferring = Deferring(self._verdicts)
        with self._in_place_of_check(deferring):
            ran = self._run_once(source)
            wrong = isinstance(self.shell.error, check.Mistake)
            failed = self.shell.error is not None
        if not wrong and (failed or not deferring.pending):
            return ran
        self.shell.execution_count = count
        with self._in_place_of_check(self._verdicts):
            again = self._run_once(source)
        return ran if wrong and self.shell.error is None else again

    def _run_once(self, source):
        count, shown = self.shell.run(source)
        kept = tuple(o for o in shown if o.get("name") != "stderr")
        return outputs.Ran(count, kept, _misconception(self.shell.error))

    @contextmanager
    def _in_place_of_check(self, stand_in):
        """Let the names of `attention_lab.check` stand for something else meanwhile."""
        names = [name for name, value in self.shell.user_ns.items() if value is check]
        self.shell.user_ns.update(dict.fromkeys(names, stand_in))
        try:
            yield
        finally:
            self.shell.user_ns.update(dict.fromkeys(names, check))

    def _names(self, source):
        """The names that the cell must take from the learner: those the course has not defined."""
        return [name for name in self._names_used(source) if name not in self.shell.user_ns]


def _misconception(error):
    return error.misconception if isinstance(error, check.Mistake) else None
