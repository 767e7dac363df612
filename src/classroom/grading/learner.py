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
from classroom.grading.patience import Patience
from classroom.grading.sandbox import wire

SECONDS_FOR_A_FORK = 10
MAX_SHOWN = 32 << 20  # of all cells; what is more is left out


class Gone(Exception):
    """The submission's process is no more; the message says why.

    from_outside: whether nobody in the sandbox need have had a hand in it.
    """

    def __init__(self, reason: str, from_outside: bool = False):
        super().__init__(reason)
        self.from_outside = from_outside


class NoAnswer(Exception):
    """What was asked of one of the submission's functions did not come back."""

    def _render_traceback_(self):
        return [f"\N{BALLOT X} {self}"]


class Unanswered(NoAnswer):
    """One of the submission's functions hung, or ended its process."""


class Learner:
    """Runs a submission's cells and asks what its functions do, each within a time limit.

    Every method raises Gone once the process is dead or talks nonsense, and Broken if the sandbox
    itself is gone through no fault of the submission.

    proven: the steps for which names, as they are since the last cell, have right shapes.
    defined, missing: the names that were to be defined below the error of the last cell, as far as
    that could be done, and the others.
    unanswered: why names, as they are, gave no answer; by whether the question showed steps, too.
    """

    def __init__(self, confinement: Confinement, patience: Patience):
        self.confinement = confinement
        self.patience = patience
        self.limits = confinement.limits
        self._channel = confinement.start_submission()
        self._open = [self._channel]
        self._gone = None
        self._numbers = itertools.count()
        self._shown = 0
        self.proven = {}
        self.unanswered = {}
        self.defined = self.missing = ()

    def write(self, file: File):
        """Put a file into the working folder."""
        self._ask({"do": "write", "name": file.name}, file.content)

    def run(self, source: str) -> outputs.Ran:
        """Run one cell of the learner's."""
        return self._run({"do": "run", "source": source})

    def define(self, source: str):
        """Run nothing but the definitions, imports and assignments of a cell, each by itself."""
        self._run({"do": "define", "source": source})

    def pictures(self) -> tuple[dict, bytes]:
        """The pictures that its cells have drawn, as `Confinement.keep` takes them."""
        self._send({"do": "pictures"})
        return self._receive_all(time.monotonic() + SECONDS_FOR_A_FORK)

    def observer(self, asked: "Observer | None" = None) -> "Observer":
        """Fork the submission as it is now; the fork is to be closed. What `asked`, an earlier one,
        has observed is not asked for again."""
        return Observer(self, asked)

    def fork(self) -> tuple[wire.Channel, Callable[[], object]]:
        """Fork the submission as it is now: a conversation with the fork, and what ends it."""
        number = next(self._numbers)
        ours, theirs = socket.socketpair()
        channel = wire.Channel(ours)
        self._open.append(channel)
        with theirs:
            self._ask({"do": "observe", "number": number}, give=theirs)
        return channel, partial(self._ask, {"do": "stop observing", "number": number})

    def raise_if_gone(self):
        """Raise Gone if it is known by now that the process is."""
        if self._gone:
            raise self._gone

    def close(self):
        """Hang up; the submission's process ends when the sandbox is told so."""
        for channel in self._open:
            channel.close()

    def _run(self, message):
        self.proven, self.unanswered = {}, {}
        seconds = self.patience.seconds
        self._send(message)
        try:
            return self._outputs(time.monotonic() + seconds)
        except wire.TooLate:
            self.patience.was_in_vain()
            return self._stop_cell(seconds)

    def _stop_cell(self, seconds):
        limit = f"the cell ran longer than {seconds:.3g} seconds"
        with suppress(wire.TooLate):
            self._interrupt()
            ran = self._outputs(time.monotonic() + self.limits.grace)
            return outputs.stopped(ran, limit)
        raise self._give_up(f"{limit} and did not stop when it was interrupted")

    def _outputs(self, deadline):
        before = self._channel.received
        try:
            answer = self._receive(deadline)
            ran = outputs.checked(answer)
        except wire.Malformed:
            raise self._give_up("it showed something that is no output of a cell") from None
        self.defined, self.missing = (outputs.names(answer, k) for k in ("defined", "missing"))
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
        self.raise_if_gone()
        if self.patience.is_over:
            raise self._give_up(self.patience.in_all)
        deadline = time.monotonic() + SECONDS_FOR_A_FORK
        try:
            self._channel.send(message, payload, give=give, deadline=deadline)
        except wire.TooLate:
            raise self._give_up("it no longer listened") from None
        except wire.Closed:
            raise self._end() from None

    def _receive(self, deadline):
        return self._receive_all(deadline)[0]

    def _receive_all(self, deadline):
        try:
            return self._channel.receive(deadline=deadline)
        except wire.Closed:
            raise self._end() from None
        except wire.Malformed:
            raise self._give_up("it answered with something that is no message") from None

    def _interrupt(self):
        try:
            self.confinement.interrupt()
        except Broken:
            raise self._end() from None

    def _end(self):
        """That the process is gone, and why; raises Broken if that was not its doing."""
        try:
            was_killed = self.confinement.ping()
        except Broken:
            if self.confinement.overstepped is None:
                raise
            return self._give_up(self.confinement.overstepped)
        if was_killed:
            return self._give_up("its Python process was killed", from_outside=True)
        return self._give_up("its Python process ended (a crash, or a call such as os._exit)")

    def _give_up(self, reason, from_outside=False):
        self._gone = Gone(reason, from_outside)
        return self._gone


class Observer:
    """A fork of the submission that is asked about its names, for one graded cell.

    Every method but `close` raises NoAnswer when nothing sensible comes back within the cell's
    time. A fork that gave no answer is replaced by one of the submission as it is by then.
    """

    def __init__(self, learner: Learner, asked: "Observer | None" = None):
        self._learner = learner
        self._unanswered = learner.unanswered
        self._replies = dict(asked._replies) if asked else {}
        self._channel, self._stop = learner.fork()
        self.begin()

    def begin(self):
        """Give the fork the whole time of a cell; what the judge takes does not count."""
        self._left = self._seconds = self._learner.patience.seconds

    def close(self):
        """Kill the fork. Raises Gone if the submission does not do so."""
        if self._channel is not None:
            self._channel.close()
            self._channel = None
            self._stop()

    def ask(
        self, do: str, name: str, payload: bytes = b"", steps: bool = False
    ) -> tuple[dict, bytes]:
        """Ask to `do` something with `name`; return the answer. What was observed once in this
        fork is not tried again, and of a name that gave no answer no other is wanted, unless the
        question shows right steps for the first time (`steps`)."""
        question = (do, name, payload)
        if question in self._replies:
            return self._replies[question]
        if do != "describe" and (name, steps) in self._unanswered:
            raise self._unanswered[name, steps]
        try:
            reply = self._ask({"do": do, "name": name}, payload)
        except Unanswered as error:
            self._unanswered[name, steps] = error
            raise
        if do == "observe":
            self._replies[question] = reply
        return reply

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
            self._learner.patience.was_in_vain()
            reason = f"{name} took longer than {self._seconds:.3g} seconds"
        except wire.Closed:
            reason = f"{name} ended the Python process it was tried in"
        except wire.Malformed:
            reason = f"what came back from {name} could not be read"
        except Gone as gone:  # which whoever comes next will be told, too
            raise NoAnswer(f"{gone}.") from None
        finally:
            self._left -= time.monotonic() - begun
        with suppress(Gone):
            self.close()
        raise Unanswered(f"{reason}, so nothing can be said about it.")

    def _exchange(self, message, payload, deadline):
        """Say and hear; once more if the fork ends, which need not be the answer's doing."""
        try:
            return self._exchange_once(message, payload, deadline)
        except wire.Closed:
            self.close()
            return self._exchange_once(message, payload, deadline)

    def _exchange_once(self, message, payload, deadline):
        if self._channel is None:
            self._channel, self._stop = self._learner.fork()
        self._channel.send(message, payload, deadline=deadline)
        return self._channel.receive(deadline=deadline)
