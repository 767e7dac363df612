"""Runs the course's own cells, outside the sandbox: the only place where a verdict is made."""

from contextlib import ExitStack

from attention_lab import check

from classroom.grading import handles, outputs
from classroom.grading.learner import Learner, NoAnswer
from classroom.grading.sandbox.shell import make_shell


class CourseError(Exception):
    """A cell of the course's own fails by itself."""


class Judge:
    """Judges submissions one after the other with the same numbers, drawn from `seed`."""

    def __init__(self, seed: int, output_limit: int):
        check.use_seed(seed)
        self.shell = make_shell(output_limit, results_kept=0)

    def begin(self, setup: tuple[str, ...]):
        """Start over with nothing but the names that the set-up cells define."""
        self.shell.reset(new_session=True)
        for source in setup:
            _, shown = self.shell.run(source)
            if errors := [output for output in shown if output["output_type"] == "error"]:
                raise CourseError(f"a set-up cell fails outside the sandbox: {errors[0]['evalue']}")

    def run(self, source: str, learner: Learner) -> outputs.Ran:
        """Run one graded cell on what `learner` has defined. The cell's own error costs its points,
        and nothing else does: what went to stderr is left out."""
        with ExitStack() as stack:
            try:
                names = self._names(source)
                found = (
                    handles.bind(names, stack.enter_context(learner.observer())) if names else {}
                )
            except NoAnswer as reason:
                return outputs.failed("NoAnswer", str(reason))
            self.shell.user_ns.update(found)
            count, shown = self.shell.run(source)
            for name in found:
                self.shell.user_ns.pop(name, None)
        return outputs.Ran(count, tuple(o for o in shown if o.get("name") != "stderr"))

    def _names(self, source):
        """The names that the cell must take from the learner: those the course has not defined."""
        python = self.shell.transform_cell(source)
        return [name for name in handles.names_used(python) if name not in self.shell.user_ns]
