"""Runs the course's own cells, outside the sandbox: the only place where a verdict is made."""

from dataclasses import dataclass

from attention_lab import check
from classroom.grading import handles, outputs
from classroom.grading.learner import Learner, NoAnswer, Observer
from classroom.grading.sandbox.shell import make_shell


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

    def close(self):
        if self.observer is not None:
            self.observer.close()


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

    def run(self, source: str, learner: Learner, observer: Observer | None = None) -> Trial:
        """Run one graded cell on what `learner` has defined. The cell's own error costs its points,
        and nothing else does: what went to stderr is left out.

        observer: a kept fork to run the cell on once more, now with leave to show right steps.
        """
        names = self._names(source)
        show_steps = observer is not None
        observer = observer or (learner.observer() if names else None)
        try:
            found = handles.bind(names, observer, show_steps)
        except NoAnswer as reason:
            return Trial(outputs.failed("NoAnswer", str(reason)), observer)
        self.shell.user_ns.update(found)
        count, shown = self.shell.run(source)
        for name in found:
            self.shell.user_ns.pop(name, None)
        kept = tuple(o for o in shown if o.get("name") != "stderr")
        ran = outputs.Ran(count, kept, _misconception(self.shell.error))
        wanted = any(getattr(value, "wanted_steps", False) for value in found.values())
        return Trial(ran, observer, wanted)

    def _names(self, source):
        """The names that the cell must take from the learner: those the course has not defined."""
        python = self.shell.transform_cell(source)
        return [name for name in handles.names_used(python) if name not in self.shell.user_ns]


def _misconception(error):
    return error.misconception if isinstance(error, check.Mistake) else None
