"""Another process, by a descriptor: its number may be a stranger's as soon as it has ended."""

import os
import select
import signal
import threading
from contextlib import suppress


class Pidfd:
    """The process with this `pid`, which need not be a child of this one.

    Raises ProcessLookupError if there is none.
    """

    def __init__(self, pid: int):
        self.pid = pid
        self._descriptor = os.pidfd_open(pid)
        self._ending = threading.Lock()

    def kill(self):
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._descriptor, signal.SIGKILL)

    def has_ended(self, seconds: float = 0) -> bool:
        """Whether it has ended, or does so within `seconds`."""
        waiting = select.poll()  # `select.select` takes no descriptor above 1023
        waiting.register(self._descriptor, select.POLLIN)
        return bool(waiting.poll(1000 * seconds))

    def end(self, seconds: float):
        """Kill it, wait up to `seconds` until it has ended, and let go of it. Several threads may
        do so; after the first there is nothing left to do."""
        with self._ending:
            if self._descriptor is not None:
                self.kill()
                self.has_ended(seconds)
                self.close()

    def close(self):
        """Let go of it."""
        os.close(self._descriptor)
        self._descriptor = None
