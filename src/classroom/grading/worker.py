"""A worker: a process that judges, and the sandbox that it has to itself.

`python -m classroom.grading.worker DESCRIPTOR` serves jobs over that socket until it closes.
"""

import os
import socket
import sys
from contextlib import suppress

import torch

from classroom.grading import outputs
from classroom.grading.confinement import Broken, Confinement
from classroom.grading.job import Job, Result
from classroom.grading.judge import CourseError, Judge
from classroom.grading.learner import Gone, Learner
from classroom.grading.limits import Limits
from classroom.grading.sandbox import process, wire


class Worker:
    """Runs jobs one after the other, each in a process of its own."""

    def __init__(self, isolation: str, limits: Limits, seed: int):
        self.isolation = isolation
        self.limits = limits
        self.confinement = Confinement(isolation, limits)
        self.judge = Judge(seed, limits.output)

    def grade(self, job: Job) -> Result:
        """Run `job`. Where its sandbox dies through no fault of the job's, run it once more in a
        new one. Raises Broken if that dies too, CourseError if the course's own cells fail."""
        try:
            return self._grade_once(job)
        except Broken:
            return self._grade_once(job)

    def close(self):
        if self.confinement is not None:
            self.confinement.close()
            self.confinement = None

    def _grade_once(self, job):
        self.judge.begin(job.setup)
        if self.confinement is None:
            self.confinement = Confinement(self.isolation, self.limits)
        ran, changed = {}, ()
        try:
            for index, cell in self._run_cells(job):
                ran[index] = cell
        finally:
            changed = self._end()
        return Result(ran, changed)

    def _run_cells(self, job):
        """Yield the index of each cell and what running it showed."""
        gone = None
        try:
            learner = Learner(self.confinement, job.files)
        except Gone as error:
            gone = error
        for cell in job.cells:
            if gone is not None:
                yield cell.index, outputs.failed("Stopped", f"an earlier cell is to blame: {gone}.")
                continue
            try:
                yield cell.index, self._run(cell, learner)
            except Gone as error:
                gone = error
                yield cell.index, outputs.failed("Stopped", f"{gone}.")

    def _run(self, cell, learner):
        return self.judge.run(cell.source, learner) if cell.graded else learner.run(cell.source)

    def _end(self):
        """Clear away what the submission left; return what it changed about its host."""
        try:
            changed = self.confinement.end_submission()
        except Broken:
            self.close()
            return ()
        if self.confinement.worn:
            self.close()
        return changed


def main(descriptor: int):
    process.die_with_parent(os.getppid())
    torch.set_num_threads(1)
    channel = wire.Channel(socket.socket(fileno=descriptor))
    with suppress(wire.Closed):
        orders, _ = channel.receive()
        try:
            worker = Worker(orders["isolation"], Limits(**orders["limits"]), orders["seed"])
        except Broken as error:
            channel.send({"failed": str(error)})
            return
        channel.send({"ready": True})
        try:
            while True:
                channel.send(answer(worker, *channel.receive()))
        finally:
            worker.close()


def answer(worker: Worker, message: dict, payload: bytes) -> dict:
    try:
        return worker.grade(Job.from_message(message, payload)).to_message()
    except (Broken, CourseError) as error:
        return {"failed": str(error)}


if __name__ == "__main__":
    main(int(sys.argv[1]))
