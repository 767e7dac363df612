"""The process that a machine's workers are forked from: what it imports and works out, all have.

Nothing large is imported before the sandboxes have been started: all then import torch at the same
time.
"""

import gc
import os
import signal
import traceback
from contextlib import closing, suppress

from classroom.grading.confinement import Confinement
from classroom.grading.limits import Limits
from classroom.grading.sandbox import compiler, process, wire


class ForkServer:
    """Forks a worker for each socket that it is given, and keeps none of them.

    channel: where it is asked for them. Raises Broken where no sandbox can be started.
    """

    def __init__(self, channel: wire.Channel, isolation: str, limits: Limits, seed: int, size: int):
        self._channel = channel
        self._isolation = isolation
        self._limits = limits
        self._cores = [cores_of(number, size) for number in range(size)]
        self._sandboxes = {
            number: Confinement(isolation, limits, cores)
            for number, cores in enumerate(self._cores)
        }
        self._judge = _make_judge(seed, limits)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # children vanish when they end

    def serve(self):
        """Do what is asked for until nobody can ask any more."""
        while True:
            message, _, given = self._channel.receive_with_socket()
            match message["do"]:
                case "prepare":
                    self._prepare(message["job"])
                    self._channel.send({})
                case "fork":
                    self._channel.send({"pid": self._fork(given, message["number"])})

    def _prepare(self, message):
        from classroom.grading.job import Job
        from classroom.grading.judge import CourseError

        with suppress(CourseError):  # which each worker will meet, and say
            self._judge.prepare(Job.from_message(message, b""))
        gc.freeze()

    def _fork(self, given, number):
        sandbox = self._sandboxes.pop(number, None)
        parent = os.getpid()
        pid = os.fork()
        if pid == 0:
            self._become_worker(parent, given, sandbox, self._cores[number])
        given.close()
        if sandbox is not None:
            sandbox.hand_over()
        return pid

    def _become_worker(self, parent, given, sandbox, cores):
        from classroom.grading import worker

        try:
            process.die_with_parent(parent)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            self._channel.close()
            for other in self._sandboxes.values():
                other.hand_over()
            grader = worker.Worker(self._isolation, self._limits, self._judge, sandbox, cores)
            with closing(grader), suppress(wire.Closed):
                worker.serve(wire.Channel(given), grader)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(0)


def cores_of(number: int, size: int) -> list[int]:
    """The cores of this machine that the sandboxes of worker `number` of `size` run on. As long as
    there are enough they are nobody else's: a submission's busy processes slow only themselves."""
    cores = sorted(os.sched_getaffinity(0))
    return cores[number % len(cores) :: size]


def _make_judge(seed, limits):
    import torch

    from classroom.grading.judge import Judge

    compiler.put_off()
    torch.set_num_threads(1)
    return Judge(seed, limits.output)
