"""Running the submissions whose turn has not come yet.

nbgrader grades one submission after the other. Meanwhile the workers run those that follow, as they
will probably look once nbgrader has sanitised them. A result is used only if that was right.
"""

from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from itertools import takewhile
from typing import NamedTuple

from classroom.grading.job import Job


class Started(NamedTuple):
    job: Job
    future: Future


class Ahead:
    """Keeps `how_many` jobs started beyond the one whose turn it is.

    upcoming: keys of what is going to be graded, in order. prepare: returns the job of a key, or
    raises where it cannot; then that one is started when its turn comes. submit: starts a job.
    """

    def __init__(
        self,
        upcoming: Iterable[str],
        prepare: Callable[[str], Job],
        submit: Callable[[Job], Future],
        how_many: int,
    ):
        self._upcoming = deque(upcoming)
        self._prepare = prepare
        self._submit = submit
        self._how_many = how_many
        self._started = {}

    def take(self, key: str, job: Job) -> Future:
        """The result of `job`, whose turn it is. `key` says for which guess it stands."""
        self._forget_until(key)
        started = self._started.pop(key, None)
        if started is not None and started.job == job:
            future = started.future
        else:
            if started is not None:
                started.future.cancel()
            future = self._submit(job)
        self._start_more()
        return future

    def _forget_until(self, key):
        if key in self._started:
            for passed_over in list(takewhile(lambda started: started != key, self._started)):
                self._started.pop(passed_over).future.cancel()
        if key in self._upcoming:
            while self._upcoming.popleft() != key:
                pass

    def _start_more(self):
        while self._upcoming and len(self._started) < self._how_many:
            key = self._upcoming.popleft()
            try:
                job = self._prepare(key)
            except Exception:  # nbgrader will meet it too, and say so where it belongs
                continue
            self._started[key] = Started(job, self._submit(job))
