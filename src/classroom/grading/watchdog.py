"""Holds a sandbox to its bounds on memory, processes, threads and sockets, from outside."""

import os
import re
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from classroom.grading.limits import Limits
from classroom.grading.pidfd import Pidfd

PERIOD = 0.05


class Watchdog(threading.Thread):
    """Kills the sandbox whose first process is `host` as soon as it oversteps `limits`.

    `reason` says afterwards which bound that was; None as long as there was no need.
    """

    def __init__(self, host: Pidfd, limits: Limits):
        super().__init__(daemon=True, name=f"watchdog of {host.pid}")
        self.host = host
        self.limits = limits
        self.reason = None
        self._enough = threading.Event()
        self.start()

    def run(self):
        while not self._enough.wait(PERIOD):
            reason = self.overstepped()
            if self.host.has_ended():  # so that may have been about a stranger
                return
            if reason is not None:
                self.reason = reason
                self.host.kill()
                return

    def stop(self):
        self._enough.set()
        self.join()

    def overstepped(self) -> str | None:
        """Which bound the sandbox oversteps now, in words."""
        pids = list(descendants(self.host.pid, at_most=self.limits.processes + 1))
        if len(pids) > self.limits.processes:
            return f"it started more than {self.limits.processes} processes"
        if threads(pids) > self.limits.threads:
            return f"it started more than {self.limits.threads} threads"
        if sockets(self.host.pid) > self.limits.sockets:
            return f"it opened more than {self.limits.sockets} sockets"
        if memory(pids, enough=self.limits.memory) > self.limits.memory:
            return f"it used more than {self.limits.memory >> 20} MiB of memory"
        return None


def descendants(pid: int, at_most: int) -> Iterator[int]:
    """Yield `pid` and the processes below it, no more than `at_most`."""
    waiting = [pid]
    while waiting and at_most > 0:
        at_most -= 1
        parent = waiting.pop()
        yield parent
        with suppress(OSError):
            for task in Path(f"/proc/{parent}/task").iterdir():
                waiting += map(int, (task / "children").read_text().split())


def threads(pids: list[int]) -> int:
    """How many threads `pids` have, the first of each included."""
    return sum(_total(pid, "status", rb"Threads", rb"") for pid in pids)


def memory(pids: list[int], enough: int) -> int:
    """Bytes of memory in use by `pids`, also what was swapped out, tables of pages, and large pages
    set aside by whoever runs the machine; shared pages count once, or more
    often while the sum stays below `enough` (counting them exactly takes the kernel longer)."""
    roughly = sum(_resident(pid) for pid in pids)
    return roughly if roughly <= enough else sum(_proportional(pid) for pid in pids)


def sockets(pid: int) -> int:
    """How many sockets there are in the network of process `pid`, also those that no process holds
    because they are on their way to one. 0 if it is this process's network, too."""
    with suppress(OSError):
        if not os.path.samefile(f"/proc/{pid}/ns/net", "/proc/self/ns/net"):
            used = Path(f"/proc/{pid}/net/sockstat").read_text().splitlines()[0]
            return int(used.removeprefix("sockets: used"))
    return 0


def _resident(pid):
    return _total(pid, "status", rb"VmRSS|VmSwap|VmPTE|HugetlbPages") << 10


def _proportional(pid):
    shared_out = _total(pid, "smaps_rollup", rb"Pss|SwapPss")
    if not shared_out:
        return _resident(pid)
    return shared_out + _total(pid, "status", rb"VmPTE|HugetlbPages") << 10


def _total(pid, file, names, unit=rb" kB"):
    """The sum of the lines of a file in /proc that begin with one of `names`."""
    with suppress(OSError):
        text = Path(f"/proc/{pid}/{file}").read_bytes()  # no text: a process may be called anything
        found = re.findall(rb"^(?:%b):\s+(\d+)%b$" % (names, unit), text, re.MULTILINE)
        return sum(map(int, found))
    return 0
