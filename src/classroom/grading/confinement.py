"""A running sandbox, seen from outside: one host process that forks a process a submission."""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from contextlib import contextmanager, suppress
from pathlib import Path

from classroom.grading import bubblewrap, seccomp
from classroom.grading.folders import Folders
from classroom.grading.limits import Limits
from classroom.grading.pidfd import Pidfd
from classroom.grading.sandbox import wire
from classroom.grading.watchdog import Watchdog

INFO_SECONDS = 20  # for bubblewrap to tell the number of the sandbox's first process
START_SECONDS = 120
ANSWER_SECONDS = 20
END_SECONDS = 10
MAX_SUBMISSIONS = 50
# If the machine's memory runs out, what this starts goes first.
EXPENDABLE = ("/bin/sh", "-c", 'echo 1000 >/proc/self/oom_score_adj; exec "$0" "$@"')


class Broken(Exception):
    """The sandbox is gone or cannot be trusted any more; the message says why."""


class Confinement:
    """One sandbox. `isolation` is "bubblewrap", or "none" for plain processes of this account;
    `cores` are those that it runs on, by default all.

    It is started at once; `wait_until_ready` before anything else. Raises Broken if it cannot be,
    as every method does when the sandbox is no more.

    served: the submissions it has run. keeps, knows: what its owner told it to keep and to learn.
    """

    def __init__(self, isolation: str, limits: Limits, cores: Iterable[int] | None = None):
        self.limits = limits
        self.served = 0
        self.changed = ()
        self.keeps = ()
        self.knows = ()
        self.watchdog = None
        self.host = self._process = self._folder = self._folders = None
        self._worn = False
        ours, theirs = socket.socketpair()
        self._channel = wire.Channel(ours)
        start = self._start_unconfined if isolation == "none" else self._start_in_bubblewrap
        try:
            with theirs, _children_on(cores):
                start(theirs.fileno())
        except (OSError, ValueError) as error:
            self.close()
            raise Broken(f"the sandbox did not start ({type(error).__name__}: {error})") from None

    def wait_until_ready(self):
        """Wait until the host has imported what it needs."""
        if self.watchdog is not None:
            return
        try:
            self._ask(None, time.monotonic() + START_SECONDS)
            self._renew()
        except Broken:
            self.close()
            raise
        self.watchdog = Watchdog(self.host, self.limits)

    @property
    def worn(self) -> bool:
        """Whether the next submission should get another sandbox."""
        return self._worn or bool(self.changed) or self.served >= MAX_SUBMISSIONS

    @property
    def overstepped(self) -> str | None:
        """The bound for which the watchdog ended the sandbox, in words."""
        return self.watchdog.reason

    def ping(self) -> bool:
        """Whether the submission's process was killed, be it by itself. Raises Broken unless the
        host is alive."""
        return bool(self._ask({"do": "ping"})["killed"])

    def keep(self, message: dict, pictures: bytes):
        """Have no submission from now on draw these again."""
        self._ask({"do": "keep", **message}, payload=pictures)

    def learn(self, cells: tuple[str, ...], requests: tuple[bytes, ...]):
        """Have no submission from now on compile these cells or decode these requests. They are
        there for all to see."""
        sizes = [len(request) for request in requests]
        message = {"do": "learn", "cells": list(cells), "sizes": sizes}
        self._ask(message, payload=b"".join(requests))
        self.knows = cells, requests

    def start_submission(self) -> wire.Channel:
        """Fork the host; return the conversation with the new process."""
        ours, theirs = socket.socketpair()
        channel = wire.Channel(ours)
        try:
            with theirs:
                self._ask({"do": "start"}, give=theirs)
        except Broken:
            channel.close()
            raise
        return channel

    def interrupt(self):
        """Raise KeyboardInterrupt in the cell that the submission is running."""
        self._ask({"do": "interrupt"})

    def end_submission(self) -> tuple[str, ...]:
        """Kill all that the submission left and put empty folders in the place of its own. Return
        what of the host is no longer as it was at the start."""
        self.served += 1
        ended = self._ask({"do": "end"})
        self.changed, self._worn = tuple(ended["changed"]), ended["worn"]
        self._renew()
        return self.changed

    def hand_over(self):
        """Leave the sandbox to a fork of this process, which has a copy of the conversation."""
        self._channel.close()
        self.host.close()
        if self._folders is not None:
            self._folders.hand_over()

    def close(self):
        if self.watchdog is not None:
            self.watchdog.stop()
        self._channel.close()
        if self.host is not None:
            self.host.end(END_SECONDS)
        if self._folders is not None:
            self._folders.close()
        if self._process is not None:
            self._process.kill()  # which does nothing where the sandbox was left to this process
            self._process.wait()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _ask(self, message, deadline=None, give=None, payload=b""):
        """Send the host `message` and return its answer."""
        deadline = deadline or time.monotonic() + ANSWER_SECONDS
        try:
            if message is not None:
                self._channel.send(message, payload, give=give, deadline=deadline)
            return self._channel.receive(deadline=deadline)[0]
        except (wire.Closed, wire.TooLate, wire.Malformed) as error:
            raise Broken(f"the sandbox stopped unexpectedly ({type(error).__name__})") from None

    def _renew(self):
        if self._folders is None:
            return
        try:
            self._folders.renew()
        except OSError as error:
            raise Broken(f"the sandbox's folders could not be renewed ({error})") from None

    def _start_in_bubblewrap(self, descriptor):
        info, theirs = socket.socketpair()
        with info:
            with theirs, open(seccomp.open_filter(), "rb") as call_filter:
                inherited = call_filter.fileno(), theirs.fileno()
                command = bubblewrap.command_line(self.limits, *inherited)
                command += bubblewrap.host_command(descriptor, self.limits)
                self._process = _spawn(command, pass_fds=(descriptor, *inherited))
            info.settimeout(INFO_SECONDS)
            with info.makefile(encoding="utf-8") as text:
                self.host = Pidfd(json.load(text)["child-pid"])
        self._folders = Folders(self.host.pid, self.limits)

    def _start_unconfined(self, descriptor):
        self._folder = Path(tempfile.mkdtemp(prefix="grading-"))
        work = self._folder / "work"
        work.mkdir()
        (self._folder / bubblewrap.INSIDE_NAME).symlink_to(bubblewrap.INSIDE)
        command = bubblewrap.host_command(descriptor, self.limits, work)
        paths = os.pathsep.join([str(self._folder), *sys.path])
        environment = os.environ | bubblewrap.ENVIRONMENT | {"PYTHONPATH": paths}
        environment |= {name: os.environ[name] for name in ("HOME", "PATH")}
        self._process = _spawn(command, pass_fds=(descriptor,), env=environment)
        self.host = Pidfd(self._process.pid)


@contextmanager
def _children_on(cores):
    """Have what this thread starts run on `cores`, unless none of them is there any more."""
    own = os.sched_getaffinity(0)
    with suppress(OSError):
        os.sched_setaffinity(0, own if cores is None else cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, own)


def _spawn(command, **kwargs):
    nothing = subprocess.DEVNULL
    return subprocess.Popen(
        [*EXPENDABLE, *command], stdin=nothing, stdout=nothing, stderr=None, **kwargs
    )
