"""The folders that a sandbox may write into, seen from outside."""

import socket
import subprocess
import sys

from classroom.grading import renewal
from classroom.grading.limits import Limits

SECONDS = 20


class Folders:
    """Those of the sandbox whose first process is `host`. A process that runs `renewal` mounts
    them; it ends as soon as nobody can tell it to any more."""

    def __init__(self, host: int, limits: Limits):
        self._channel, theirs = socket.socketpair()
        self._channel.settimeout(SECONDS)
        words = map(str, (host, limits.scratch, limits.files))
        command = [sys.executable, "-I", "-S", renewal.__file__, *words]
        with theirs:
            self._process = subprocess.Popen(
                command, stdin=theirs, stdout=theirs, stderr=subprocess.DEVNULL
            )

    def renew(self):
        """Put empty ones in their place. Raises OSError where that cannot be done."""
        try:
            self._channel.send(b"\n")
            said = self._channel.recv(1000)
        except ConnectionError:
            said = b""
        if said != b"\n":
            raise OSError(said.decode(errors="replace").strip() or "nothing can be mounted in it")

    def hand_over(self):
        """Leave them to a fork of this process."""
        self._channel.close()

    def close(self):
        self._channel.close()
        self._process.wait()
