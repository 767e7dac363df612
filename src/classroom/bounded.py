"""Runs what reads or renders the work of a stranger, in a child that may fail in every way.

Whatever a file makes of the code that reads it (a loop, gigabytes, a recursion that ends the
process), the caller gets one typed error, in words, and goes on.
"""

import faulthandler
import json
import os
import resource
import signal
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from select import POLLIN, poll
from typing import Any, NoReturn

from classroom.grading.sandbox.process import die_with_parent, silence

PIECE = 1 << 16
LONGEST_REASON = 1000  # characters


class Failed(ValueError):
    """The child did not do it; the message says why, as what is said of a file or a notebook."""


@dataclass(frozen=True)
class Bounds:
    """seconds: of processor time; three times as many by the clock. memory: in bytes, besides what
    the caller has."""

    seconds: int = 20
    memory: int = 1 << 30

    @property
    def slow(self) -> str:
        return f"takes more than {self.seconds} s"

    @property
    def large(self) -> str:
        return f"takes more than {self.memory >> 20} MiB of memory"

    @property
    def deep(self) -> str:
        return "is nested too deeply"


BOUNDS = Bounds()


def run(function: Callable[..., Any], *arguments: Any, bounds: Bounds = BOUNDS) -> Any:
    """What `function(*arguments)` returns in a fork of this process: plain data, as JSON has it.

    Raises:
        Failed: it took too much, ended its process, or raised an error.
    """
    reading, writing = os.pipe()
    parent, child = os.getpid(), _fork()
    if child == 0:
        _be_child(parent, function, arguments, bounds, writing)
    os.close(writing)
    try:
        answer = _read(reading, bounds)
    finally:
        os.close(reading)
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
    try:
        said = json.loads(answer)
    except ValueError:  # it ended before it had said anything, or all
        raise Failed(_why_it_ended(status, bounds)) from None
    except RecursionError:
        raise Failed(bounds.deep) from None
    if "failed" in said:
        raise Failed(said["failed"])
    return said["result"]


def _fork() -> int:
    with warnings.catch_warnings():
        # Python warns of locks that other threads hold: the child computes, writes and ends.
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def _be_child(
    parent: int, function: Callable[..., Any], arguments: tuple, bounds: Bounds, writing: int
) -> NoReturn:
    try:
        die_with_parent(parent)
        silence()
        faulthandler.disable()
        _limit(bounds)
        with open(writing, "wb", closefd=False) as pipe:
            pipe.write(_answer(function, arguments, bounds))
    finally:
        os._exit(0)


def _limit(bounds: Bounds) -> None:
    with open("/proc/self/statm", encoding="ascii") as sizes:
        here = int(sizes.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (here + bounds.memory,) * 2)
    resource.setrlimit(resource.RLIMIT_CPU, (bounds.seconds, bounds.seconds + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _answer(function: Callable[..., Any], arguments: tuple, bounds: Bounds) -> bytes:
    """What the child says: what came back, or why nothing did."""
    try:
        return json.dumps({"result": function(*arguments)}).encode()
    except MemoryError:
        reason = bounds.large
    except RecursionError:
        reason = bounds.deep
    except Exception as error:
        reason = f"cannot be read ({type(error).__name__}: {error})"
    return json.dumps({"failed": reason[:LONGEST_REASON]}).encode()


def _read(descriptor: int, bounds: Bounds) -> bytes:
    """What the child says until it ends, or until it has taken too long or said too much."""
    until = time.monotonic() + 3 * bounds.seconds
    pieces, size = [], 0
    ready = poll()
    ready.register(descriptor, POLLIN)
    while size <= bounds.memory and (left := until - time.monotonic()) > 0:
        if ready.poll(1000 * left):
            piece = os.read(descriptor, PIECE)
            if not piece:
                break
            pieces.append(piece)
            size += len(piece)
    return b"".join(pieces)


def _why_it_ended(status: int, bounds: Bounds) -> str:
    """In words, of a child that was cut off. The kernel and the parent both kill one."""
    signals = {
        signal.SIGXCPU: bounds.slow,
        signal.SIGKILL: bounds.slow,
        signal.SIGSEGV: bounds.deep,  # no stack was left
        signal.SIGBUS: bounds.deep,
        signal.SIGABRT: bounds.large,  # how Rust ends where no memory is left
    }
    killed_by = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    return signals.get(killed_by, "ends the process that reads it")
