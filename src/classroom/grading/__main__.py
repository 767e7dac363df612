"""`python -m classroom.grading DESCRIPTOR PARENT`: fork the workers that a socket asks for."""

import socket
import sys
from contextlib import suppress

from classroom.grading.confinement import Broken
from classroom.grading.forkserver import ForkServer
from classroom.grading.limits import Limits
from classroom.grading.sandbox import process, wire


def main(descriptor: int, parent: int):
    process.die_with_parent(parent)
    channel = wire.Channel(socket.socket(fileno=descriptor))
    with suppress(wire.Closed):
        orders, _ = channel.receive()
        orders["limits"] = Limits(**orders["limits"])
        try:
            server = ForkServer(channel, **orders)
        except Broken as error:
            channel.send({"failed": str(error)})
            return
        channel.send({"ready": True})
        server.serve()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
