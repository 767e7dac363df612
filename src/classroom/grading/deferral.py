"""Visible checks put off until the hidden ones have spoken.

A graded cell tries an answer on the visible trials, then on the hidden ones. These ask all that the
visible ones ask, with other numbers: where they pass, the visible ones need not be run.
"""

from functools import partial

from classroom.grading.verdicts import Verdicts


class Deferring:
    """Stands for the module `attention_lab.check` while a graded cell runs.

    pending: the visible checks that no hidden one has answered since.
    """

    def __init__(self, check: Verdicts):
        self.pending = set()
        self._check = check

    def __getattr__(self, name):
        found = getattr(self._check, name)
        return partial(self._run, name, found) if name in self._check.STEPS else found

    def _run(self, step, check_step, answer, *, aspect=None, hidden=False):
        asked = (step, id(answer), aspect)
        if not hidden:
            self.pending.add(asked)
            return
        check_step(answer, aspect=aspect, hidden=True)
        self.pending.discard(asked)
