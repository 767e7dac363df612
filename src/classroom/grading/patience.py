"""How long a submission is waited for."""

import time

from classroom.grading.limits import Limits

MAX_IN_VAIN = 3
HURRIED = 5.0  # seconds for each cell and each answer after that


class Patience:
    """The time that is left for one submission, however often it is run.

    A cell and what it asks for have `limits.cell` seconds, all together `limits.submission`. Who
    has been waited for in vain three times has little time from then on: enough for a right answer.
    """

    def __init__(self, limits: Limits):
        self._limits = limits
        self._until = time.monotonic() + limits.submission
        self._in_vain = 0

    @property
    def seconds(self) -> float:
        """The time for what is asked next."""
        most = self._limits.cell
        if self.is_short:
            most = min(most, HURRIED)
        return max(0.0, min(most, self._until - time.monotonic()))

    @property
    def is_over(self) -> bool:
        return time.monotonic() >= self._until

    @property
    def is_short(self) -> bool:
        return self._in_vain >= MAX_IN_VAIN

    @property
    def in_all(self) -> str:
        """What became of a submission for which the time is over."""
        return f"the submission took longer than {self._limits.submission:g} seconds in all"

    def was_in_vain(self):
        """Be told that something did not come in time."""
        self._in_vain += 1
