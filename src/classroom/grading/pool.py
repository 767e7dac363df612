"""The head's side of the workers: a process that forks them, and for each a thread that waits."""

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
from classroom.grading.pidfd import Pidfd
from classroom.grading.sandbox import wire

START_SECONDS = 300
END_SECONDS = 10
SECONDS_BESIDES = 600  # on top of what a submission may take: for sandboxes to start, above all
TRIES = 2


class WorkerFailed(Exception):
    """A worker could not start, or could not finish its job; the message says why."""


class Pool:
    """Grades jobs on `size` workers. It is to be closed; after that, no process of it is left.

    wait: start no process before there is a job.
    """

    def __init__(self, size: int, isolation: str, limits: Limits, seed: int, wait: bool = False):
        self.size = size
        self._wait = wait
        self._jobs = SimpleQueue()
        self._forks = Forks(size, isolation, limits, seed)
        self._workers = [Worker(self._forks, limits, number) for number in range(size)]
        for worker in self._workers:
            # Daemons: an interrupted command does not wait for the jobs that are running.
            threading.Thread(target=self._serve, args=(worker,), daemon=True).start()

    def submit(self, job: Job) -> Future:
        """The Result of `job`, or WorkerFailed, later."""
        future = Future()
        self._jobs.put((job, future))
        return future

    def close(self):
        self._forks.refuse()
        for worker in self._workers:
            worker.stop()
        self._forks.close()

    def _serve(self, worker):
        if not self._wait:
            with suppress(WorkerFailed):  # which is told by the first job
                self._forks.start()
        while True:
            job, future = self._jobs.get()
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(worker.grade(job))
                except Exception as error:
                    future.set_exception(error)


class Worker:
    """One of the forks, and another one whenever it has died. `number` says which one."""

    def __init__(self, forks: "Forks", limits: Limits, number: int):
        self._forks = forks
        self._number = number
        self._seconds = limits.submission
        self._fork = None

    def grade(self, job: Job) -> Result:
        """Run `job`; if the process dies meanwhile, once more in a new one."""
        seconds = SECONDS_BESIDES + self._seconds
        for _ in range(TRIES):
            try:
                self._fork = self._fork or self._forks.make(job, self._number)
                return Result.from_message(self._fork.answer(*job.to_message(), seconds))
            except wire.Closed:
                self.stop()
            except wire.TooLate:
                self.stop()
                raise WorkerFailed(f"the worker did not finish in {seconds:.0f} seconds") from None
            except wire.Malformed as error:
                self.stop()
                raise WorkerFailed(f"what the worker found is no result ({error})") from None
        raise WorkerFailed("the worker process died twice while it ran this notebook")

    def stop(self):
        """End the fork. Another thread may do so at the same time."""
        fork, self._fork = self._fork, None
        if fork is not None:
            fork.kill()


class Forks:
    """Where workers come from: a process running `classroom.grading`, started again when one is
    wanted after it has died. It ends with the thread that has started it."""

    def __init__(self, size: int, isolation: str, limits: Limits, seed: int):
        self._orders = {"isolation": isolation, "limits": limits.as_dict()}
        self._orders |= {"seed": seed, "size": size}
        self._turn = threading.Lock()  # to ask for a worker
        self._changing = threading.Lock()  # what follows
        self._closed = False
        self._process = None
        self._channel = None

    def start(self):
        """Start the process, unless it is there. Raises WorkerFailed."""
        with self._changing:
            if self._closed:
                raise WorkerFailed("the grading has ended")
            if self._channel is None:
                self._start()

    def make(self, job: Job, number: int) -> "Fork":
        """A new worker; the first one's job is prepared for all of them. Raises WorkerFailed."""
        with self._turn:
            for _ in range(TRIES):
                try:
                    self._get_ready(job)
                    return self._fork(number)
                except wire.Closed:
                    self._hang_up()
                except wire.TooLate:
                    self._hang_up()
                    raise WorkerFailed("the workers did not start") from None
        raise WorkerFailed("the process that starts the workers died twice")

    def refuse(self):
        """From now on, make no worker."""
        with self._changing:
            self._closed = True

    def close(self):
        """End the process, and with it whatever worker is left."""
        self._hang_up()

    def _start(self):
        ours, theirs = socket.socketpair()
        told = str(theirs.fileno()), str(os.getpid())
        with theirs:
            try:
                self._process = subprocess.Popen(
                    [sys.executable, "-m", "classroom.grading", *told],
                    pass_fds=(theirs.fileno(),),
                    stdin=subprocess.DEVNULL,
                    env=os.environ | {"OMP_NUM_THREADS": "1"},
                    start_new_session=True,  # Ctrl-C is for the head
                )
            except OSError as error:
                ours.close()
                raise WorkerFailed(f"a worker process could not be started ({error})") from None
        self._channel = wire.Channel(ours)
        self._is_ready = False
        with suppress(wire.Closed):  # which is found when it is to answer
            self._channel.send(self._orders)

    def _get_ready(self, job):
        self.start()
        if self._is_ready:
            return
        answer = self._answer()
        if "failed" in answer:
            self._hang_up()
            raise WorkerFailed(answer["failed"])
        message, _ = job.of_the_course().to_message()
        self._ask({"do": "prepare", "job": message})
        self._is_ready = True

    def _fork(self, number):
        message = {"do": "fork", "number": number}
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                return Fork(wire.Channel(ours), self._ask(message, give=theirs)["pid"])
        except (wire.Closed, wire.TooLate):
            ours.close()
            raise
        except ProcessLookupError:
            ours.close()
            raise wire.Closed from None

    def _ask(self, message, give=None):
        self._channel.send(message, give=give, deadline=time.monotonic() + START_SECONDS)
        return self._answer()

    def _answer(self):
        return self._channel.receive(deadline=time.monotonic() + START_SECONDS)[0]

    def _hang_up(self):
        with self._changing:
            if self._channel is None:
                return
            self._process.kill()
            self._process.wait()
            self._channel.close()
            self._channel = None


class Fork:
    """One worker process. Raises ProcessLookupError if there is none of this `pid`."""

    def __init__(self, channel: wire.Channel, pid: int):
        self._channel = channel
        self._process = Pidfd(pid)

    def answer(self, message: dict, payload: bytes, seconds: float) -> dict:
        """What it says to `message`. Raises WorkerFailed where it says that it failed, Closed and
        TooLate as the channel does."""
        deadline = time.monotonic() + seconds
        self._channel.send(message, payload, deadline=deadline)
        answer, _ = self._channel.receive(deadline=deadline)
        if "failed" in answer:
            raise WorkerFailed(answer["failed"])
        return answer

    def kill(self):
        """End it, and wait until it has ended."""
        self._process.end(END_SECONDS)
        self._channel.close()
