"""The first process of a sandbox: imports everything once, then forks one process a submission.

It reads only what the judge sends. A submission talks to the judge over a socket of its own, so no
byte that a submission wrote ever reaches this process; what it could do to this process from its
place beside it is compared with the start after every submission.
"""

import gc
import importlib
import os
import pkgutil
import resource
import shutil
import signal
import socket
import time
from contextlib import suppress
from pathlib import Path

import torch

import attention_lab
from attention_lab import observation
from attention_lab.heatmap import drawn
from attention_lab.observation import Call, Probe, Request, encode, observe_encoded

from . import compiler, elsewhere, pictures, process, state, wire
from .shell import make_shell
from .submission import serve

NUMBERS = 128  # of processes and threads, that one submission uses up
ENDING_SECONDS = 1.0
KILLED = (-signal.SIGKILL, -signal.SIGTERM)  # as from outside, or by itself
WARM = ("ipywidgets", "matplotlib.pyplot", "numpy.random", "torch.testing")
# The second lays out, once for all, the numbers that heatmaps show.
WARM_CELLS = (
    "1 / 0",
    """
import numpy, torch
from attention_lab import example, show_heads
from attention_lab.heatmap import show_features

for numbers in numpy.arange(108).reshape(3, 1, 6, 6) / 100:
    display(show_heads(numbers, example.tokens), show_features(50 * numbers - 27, example.tokens))
print(torch.eye(2))
""",
)


def main(descriptor: int, work: Path, limits: dict):
    """Serve until the judge closes the socket `descriptor`. `work` is where submissions work;
    without a sandbox the folder that it lies in is removed in the end."""
    channel = wire.Channel(socket.socket(fileno=descriptor))
    shell = warm_up(limits["output"])
    harden(limits)
    process.silence()
    host = Host(channel, shell, work)
    if alone():
        os.chdir("/")
        # Elsewhere a stranger could get the number of a child that has vanished.
        signal.signal(signal.SIGCHLD, lambda *_: host.reap())
        host.before = state.snapshot()
        while (number := state.next_number()) % NUMBERS:
            pass
        host.number = number
    with suppress(wire.Closed):
        channel.send({"ready": True})
        host.serve()
    kill_others(host.child)
    if not alone():
        shutil.rmtree(work.parent, ignore_errors=True)  # a judge that was killed could not do it


def alone() -> bool:
    """Whether this process is the first of a process namespace, so that all others are its own."""
    return os.getpid() == 1


def warm_up(output_limit):
    """Import and touch what every submission needs, on one thread, without random numbers."""
    compiler.put_off()
    elsewhere.settle()
    torch.set_num_threads(1)
    torch.set_num_interop_threads(1)
    for name in (*WARM, *_lab()):
        with suppress(Exception):  # what needs the checks may fail where they are masked
            importlib.import_module(name)
    observe_encoded(torch.sigmoid, encode(Request(tuple(_tiny_probes()))))
    shell = make_shell(output_limit)
    for cell in WARM_CELLS:
        shell.run(cell)
    shell.reset(new_session=True)
    drawn.keep({})
    gc.collect()
    gc.freeze()  # no child walks through, and so copies, what was imported
    process.gather_memory()
    return shell


def _lab():
    """The names of what a notebook may import of the package."""
    return [
        module.name for module in pkgutil.walk_packages(attention_lab.__path__, "attention_lab.")
    ]


def _tiny_probes():
    """A trial with gradients and one on another device: torch imports much only when it must."""
    for device in ("cpu", "meta"):
        x = torch.ones(2, 3, device=device)
        yield Probe("warm-up", "nothing", (Call((x,), upstream=(x,)),), heads=1)


def harden(limits):
    """Bound what each child of this process may use, and close this process to them. Without a
    sandbox it stays open, or its memory could not be measured by its own user."""
    bounds = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_FSIZE: limits["file"],
        resource.RLIMIT_NOFILE: limits["descriptors"],
        resource.RLIMIT_MSGQUEUE: 0,
        resource.RLIMIT_MEMLOCK: 0,
        resource.RLIMIT_SIGPENDING: 1024,
    }
    for kind, bound in bounds.items():
        resource.setrlimit(kind, (bound, bound))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if alone():
        process.close_to_children()


class Host:
    """Starts, interrupts and ends one submission at a time."""

    def __init__(self, channel, shell, work):
        self.channel = channel
        self.shell = shell
        self.work = work
        self.child = None
        self.ending = None  # how the submission's process ended, as soon as it has
        self.before = {}
        self.number = 0

    def serve(self):
        while True:
            message, payload, given = self.channel.receive_with_socket()
            match message["do"]:
                case "start":
                    self.start(given)
                case "interrupt":
                    self.interrupt()
                case "ping":
                    self.channel.send({"killed": self.was_it_killed()})
                case "end":
                    self.end()
                case "keep":
                    drawn.keep(pictures.from_message(message, payload))
                    self.channel.send({})
                case "learn":
                    self.shell.learn(message["cells"])
                    read_ahead(message["sizes"], payload)
                    gc.freeze()
                    self.channel.send({})

    def start(self, given: socket.socket):
        for folder in (self.work / "submission", self.work / "home"):
            folder.mkdir(parents=True)
        parent = os.getpid()
        self.ending = None
        self.child = os.fork()
        if self.child == 0:
            self.become_submission(parent, given)
        given.close()
        self.channel.send({})

    def become_submission(self, parent, given):
        try:
            process.die_with_parent(parent)
            self.channel.close()
            with suppress(wire.Closed):
                serve(wire.Channel(given), self.shell, self.work / "submission")
        finally:
            os._exit(0)

    def reap(self):
        """Let children vanish that have ended."""
        with suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                if ended[0] == self.child:
                    self.ending = os.waitstatus_to_exitcode(ended[1])

    def was_it_killed(self) -> bool:
        """Whether the submission's process, which has hung up, was killed; waits until it has
        ended, but not for long: it need not."""
        until = time.monotonic() + ENDING_SECONDS
        while alone() and self.ending is None and time.monotonic() < until:
            time.sleep(0.01)
        return self.ending in KILLED

    def interrupt(self):
        with suppress(ProcessLookupError):
            os.kill(self.child, signal.SIGINT)
        self.channel.send({})

    def end(self):
        """Kill whatever the submission left; say what is not as it was, and whether the next one
        could tell how much this one did. Without a sandbox, empty the folder."""
        kill_others(self.child)
        self.child = None
        if alone():
            changed = state.differences(self.before, state.snapshot())
            self.channel.send({"changed": changed, "worn": self.counted_on()})
        else:
            self.channel.send({"changed": self.removed(), "worn": False})

    def removed(self) -> list[str]:
        """Remove the folder; say if that was not possible."""
        try:
            shutil.rmtree(self.work)
        except OSError as error:
            return [f"files ({type(error).__name__})"]
        return []

    def counted_on(self) -> bool:
        """Whether the submission had more than NUMBERS processes and threads. Else use up the rest:
        then the next one's number says nothing about it."""
        used = state.next_number() - self.number
        if not 0 < used <= NUMBERS:
            return True
        state.use_up(NUMBERS - used)
        self.number += NUMBERS
        return False


def read_ahead(sizes: list[int], requests: bytes):
    """Decode requests that every submission is going to get. They lie one behind the other."""
    for size in sizes:
        observation.read_ahead(requests[:size])
        requests = requests[size:]


def kill_others(child):
    """Kill every other process of the sandbox; without one, the submission's session only."""
    with suppress(ProcessLookupError):
        if alone():
            os.kill(-1, signal.SIGKILL)
        elif child is not None:
            os.killpg(child, signal.SIGKILL)
    with suppress(ChildProcessError):
        while True:
            os.waitpid(-1, 0)
