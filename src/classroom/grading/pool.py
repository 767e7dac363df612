"""The head's side of the workers: a process for each, and a thread that waits for it."""

import os
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import Future
from contextlib import suppress
from queue import SimpleQueue

from classroom.grading.job import Job, Result
from classroom.grading.limits import Limits
from classroom.grading.sandbox import wire

START_SECONDS = 300
SECONDS_BESIDES = 120  # on top of what a job's cells may take
TRIES = 2


class WorkerFailed(Exception):
    """A worker could not start, or could not finish its job; the message says why."""


class Pool:
    """Grades jobs on `size` workers. It is to be closed; after that, no process of it is left."""

    def __init__(self, size: int, isolation: str, limits: Limits, seed: int):
        self.size = size
        self._jobs = SimpleQueue()
        self._workers = [WorkerProcess(isolation, limits, seed) for _ in range(size)]
        for worker in self._workers:
            # Daemons: an interrupted command does not wait for the jobs that are running.
            threading.Thread(target=self._serve, args=(worker,), daemon=True).start()

    def submit(self, job: Job) -> Future:
        """The Result of `job`, or WorkerFailed, later."""
        future = Future()
        self._jobs.put((job, future))
        return future

    def close(self):
        for worker in self._workers:
            worker.close()

    def _serve(self, worker):
        with suppress(WorkerFailed):
            worker.start()  # at once, while nbgrader gets ready; a failure is told by the first job
        while True:
            job, future = self._jobs.get()
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(worker.grade(job))
                except Exception as error:
                    future.set_exception(error)


class WorkerProcess:
    """One process running `classroom.grading`, started again whenever it has died."""

    def __init__(self, isolation: str, limits: Limits, seed: int):
        self._orders = {"isolation": isolation, "limits": limits.as_dict(), "seed": seed}
        self._seconds_for_a_cell = limits.cell + limits.grace
        self._lock = threading.Lock()
        self._closed = False
        self.process = None
        self._channel = None

    def grade(self, job: Job) -> Result:
        """Run `job`; if the process dies meanwhile, once more in a new one."""
        seconds = SECONDS_BESIDES + len(job.cells) * self._seconds_for_a_cell
        for _ in range(TRIES):
            try:
                if self._channel is None:
                    self.start()
                self._channel.send(*job.to_message())
                return Result.from_message(self._answer(seconds))
            except wire.Closed:
                self._stop()
        raise WorkerFailed("the worker process died twice while it ran this notebook")

    def start(self):
        ours, theirs = socket.socketpair()
        with self._lock, theirs:
            if self._closed:
                raise WorkerFailed("the grading has ended")
            try:
                self.process = subprocess.Popen(
                    [sys.executable, "-m", "classroom.grading", str(theirs.fileno())],
                    pass_fds=(theirs.fileno(),),
                    stdin=subprocess.DEVNULL,
                    env=os.environ | {"OMP_NUM_THREADS": "1"},
                    start_new_session=True,  # Ctrl-C is for the head
                )
            except OSError as error:
                ours.close()
                raise WorkerFailed(f"a worker process could not be started ({error})") from None
        self._channel = wire.Channel(ours)
        try:
            self._channel.send(self._orders)
            self._answer(START_SECONDS)
        except wire.Closed:
            self._stop()
            raise WorkerFailed("a worker process died while it started") from None

    def close(self):
        """End the process, whatever it is doing, and start no other."""
        with self._lock:
            self._closed = True
        self._stop()

    def _stop(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
        if self._channel is not None:
            self._channel.close()
            self._channel = None

    def _answer(self, seconds):
        try:
            answer, _ = self._channel.receive(deadline=time.monotonic() + seconds)
        except wire.TooLate:
            self._stop()
            raise WorkerFailed(f"the worker did not finish in {seconds:.0f} seconds") from None
        if "failed" in answer:
            raise WorkerFailed(answer["failed"])
        return answer
