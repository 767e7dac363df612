"""`python -m classroom.grading DESCRIPTOR`: be a worker, and serve jobs over that socket.

The sandbox is started before anything large is imported: both then import torch at the same time.
"""

import os
import socket
import sys
from contextlib import suppress

from classroom.grading.confinement import Broken, Confinement
from classroom.grading.limits import Limits
from classroom.grading.sandbox import compiler, process, wire


def main(descriptor: int):
    process.die_with_parent(os.getppid())
    channel = wire.Channel(socket.socket(fileno=descriptor))
    with suppress(wire.Closed):
        orders, _ = channel.receive()
        try:
            worker = start(orders)
        except Broken as error:
            channel.send({"failed": str(error)})
            return
        channel.send({"ready": True})
        serve(channel, worker)


def start(orders):
    """A worker whose sandbox is getting ready."""
    limits = Limits(**orders["limits"])
    confinement = Confinement(orders["isolation"], limits)

    import torch

    from classroom.grading.judge import Judge
    from classroom.grading.worker import Worker

    compiler.put_off()
    torch.set_num_threads(1)
    judge = Judge(orders["seed"], limits.output)
    return Worker(orders["isolation"], limits, judge, confinement)


def serve(channel, worker):
    from classroom.grading.worker import answer

    try:
        while True:
            channel.send(answer(worker, *channel.receive()))
    finally:
        worker.close()


if __name__ == "__main__":
    main(int(sys.argv[1]))
