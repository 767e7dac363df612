"""A submission that runs in a sandbox, seen from outside. Whatever it says is checked."""

import itertools
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from classroom.grading import outputs
from classroom.grading.confinement import Broken, Confinement
from classroom.grading.job import File
from classroom.grading.sandbox import wire

SECONDS_FOR_A_FORK = 10
MAX_SHOWN = 32 << 20  # of all cells; what is more is left out


class Gone(Exception):
    """The submission's process is no more; the message says why."""


class NoAnswer(Exception):
    """What was asked of one of the submission's functions did not come back."""

    def _render_traceback_(self):
        return [f"\N{BALLOT X} {self}"]


class Learner:
    """Runs a submission's cells and asks what its functions do, each within a time limit.

    Every method raises Gone once the process is dead or talks nonsense, and Broken if the sandbox
    itself is gone through no fault of the submission.

    proven: the steps for which names, as they are since the last cell, have right shapes.
    """

    def __init__(self, confinement: Confinement):
        self.confinement = confinement
        self.limits = confinement.limits
        self._channel = confinement.start_submission()
        self._open = [self._channel]
        self._gone = None
        self._numbers = itertools.count()
        self._shown = 0
        self.proven = {}

    def write(self, file: File):
        """Put a file into the working folder."""
        self._ask({"do": "write", "name": file.name}, file.content)

    def run(self, source: str) -> outputs.Ran:
        """Run one cell of the learner's."""
        self.proven = {}
        self._send({"do": "run", "source": source})
        try:
            return self._outputs(time.monotonic() + self.limits.cell)
        except wire.TooLate:
            return self._stop_cell()

    def pictures(self) -> tuple[dict, bytes]:
        """The pictures that its cells have drawn, as `Confinement.keep` takes them."""
        self._send({"do": "pictures"})
        return self._receive_all(time.monotonic() + SECONDS_FOR_A_FORK)

    def observer(self) -> "Observer":
        """Fork the submission as it is now; the fork is to be closed."""
        number = next(self._numbers)
        ours, theirs = socket.socketpair()
        channel = wire.Channel(ours)
        self._open.append(channel)
        with theirs:
            self._ask({"do": "observe", "number": number}, give=theirs)
        stop = partial(self._ask, {"do": "stop observing", "number": number})
        return Observer(channel, self.limits.cell, stop)

    def close(self):
        """Hang up; the submission's process ends when the sandbox is told so."""
        for channel in self._open:
            channel.close()

    def _stop_cell(self):
        limit = f"the cell ran longer than {self.limits.cell:g} seconds"
        with suppress(wire.TooLate):
            self._interrupt()
            ran = self._outputs(time.monotonic() + self.limits.grace)
            return outputs.stopped(ran, limit)
        raise self._give_up(f"{limit} and did not stop when it was interrupted")

    def _outputs(self, deadline):
        before = self._channel.received
        try:
            ran = outputs.checked(self._receive(deadline))
        except wire.Malformed:
            raise self._give_up("it showed something that is no output of a cell") from None
        size = self._channel.received - before
        if self._shown + size > MAX_SHOWN:
            return outputs.left_out(ran)
        self._shown += size
        return ran

    def _ask(self, message, payload=b"", give=None):
        """Send what an honest process answers at once; return the answer."""
        self._send(message, payload, give)
        try:
            return self._receive(time.monotonic() + SECONDS_FOR_A_FORK)
        except wire.TooLate:
            raise self._give_up("it no longer answered") from None

    def _send(self, message, payload=b"", give=None):
        if self._gone:
            raise self._gone
        deadline = time.monotonic() + SECONDS_FOR_A_FORK
        try:
            self._channel.send(message, payload, give=give, deadline=deadline)
        except wire.TooLate:
            raise self._give_up("it no longer listened") from None
        except wire.Closed:
            raise self._give_up(self._cause_of_death()) from None

    def _receive(self, deadline):
        return self._receive_all(deadline)[0]

    def _receive_all(self, deadline):
        try:
            return self._channel.receive(deadline=deadline)
        except wire.Closed:
            raise self._give_up(self._cause_of_death()) from None
        except wire.Malformed:
            raise self._give_up("it answered with something that is no message") from None

    def _interrupt(self):
        try:
            self.confinement.interrupt()
        except Broken:
            raise self._give_up(self._cause_of_death()) from None

    def _cause_of_death(self):
        """Why the process is gone; raises Broken if that was not the submission's doing."""
        try:
            self.confinement.ping()
        except Broken:
            if self.confinement.overstepped is None:
                raise
            return self.confinement.overstepped
        return "its Python process ended (a crash, or a call such as os._exit)"

    def _give_up(self, reason):
        self._gone = Gone(reason)
        return self._gone


class Observer:
    """A fork of the submission that is asked about its names, for one graded cell.

    Every method raises NoAnswer when nothing sensible comes back within the cell's time.
    """

    def __init__(self, channel: wire.Channel, seconds: float, stop: Callable[[], object]):
        self._channel = channel
        self._seconds = seconds
        self._stop = stop
        self._replies = {}
        self.begin()

    def begin(self):
        """Give the fork the whole time of a cell; what the judge takes does not count."""
        self._left = self._seconds

    def close(self):
        """Kill the fork. Raises Gone if the submission does not do so."""
        self._channel.close()
        self._stop()

    def ask(self, do: str, name: str, payload: bytes = b"") -> tuple[dict, bytes]:
        """Ask to `do` something with `name`; return the answer. What was observed once in this
        fork is not tried again."""
        question = (do, name, payload)
        if question not in self._replies:
            reply = self._ask({"do": do, "name": name}, payload)
            if do != "observe":
                return reply
            self._replies[question] = reply
        return self._replies[question]

    def begin_to_edit(self, name: str, text: str, given: str):
        """Have other texts tried in the place of `text`, which defines `name`, among the functions
        of `given`."""
        self._ask({"do": "begin to edit", "name": name, "text": text, "given": given})

    def observe_edited(self, name: str, text: str, request: bytes, again: bool) -> bytes:
        """Ask what `text` does in the place of the definition of `name`."""
        message = {"do": "observe edited", "name": name, "text": text, "again": again}
        return self._ask(message, request)[1]

    def _ask(self, message, payload=b""):
        name, begun = message["name"], time.monotonic()
        try:
            return self._exchange(message, payload, begun + self._left)
        except wire.TooLate:
            reason = f"{name} took longer than {self._seconds:g} seconds"
        except wire.Closed:
            reason = f"{name} ended the Python process it was tried in"
        except wire.Malformed:
            reason = f"what came back from {name} could not be read"
        finally:
            self._left -= time.monotonic() - begun
        raise NoAnswer(f"{reason}, so nothing can be said about it.")

    def _exchange(self, message, payload, deadline):
        self._channel.send(message, payload, deadline=deadline)
        return self._channel.receive(deadline=deadline)
