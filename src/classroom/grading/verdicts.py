"""What the checks said before of an answer that behaved the same.

A check asks an answer questions, each depending on the replies so far, and judges by the replies.
All submissions of a command are asked with the same numbers, so whoever replies alike, byte for
byte, is judged alike, and most of a class does. Who looked at values has seen all the shapes, too.
"""

import contextlib
import copy
import hashlib
import io
from functools import partial
from types import ModuleType
from typing import NamedTuple

from attention_lab.check import Mistake, line
from attention_lab.observation import RemoteAnswer
from classroom.grading.handles import Handle, Proven

ASKED = len(("step", "aspect", "hidden"))  # what every key of what is known begins with


class Verdict(NamedTuple):
    """How a check ended: what it printed, and the Mistake it raised or None."""

    printed: str
    mistake: Mistake | None

    @property
    def keeps_shape(self) -> bool:
        """Whether every shape was right. A Mistake is about the gravest that was seen."""
        return self.mistake is None or self.mistake.aspect != "shape"


class Verdicts:
    """Stands for the module `attention_lab.check`; judges nothing twice."""

    def __init__(self, check: ModuleType):
        self._check = check
        # By what was asked (step, aspect, hidden) and the replies so far: the next question, or the
        # Verdict.
        self._known = {}
        self._questions = {}  # each of those, for equal ones to be kept once
        # What a check prints of a shape that is right as it stands, by what was asked.
        self._right_shape = {}
        # What was found of where answers are wrong: of this submission by step and definition, and
        # of all by their replies and their text.
        self._lines = {}
        self._lines_of_all = {}

    def begin(self):
        """Start with another submission."""
        self._lines.clear()

    def first_questions(self) -> tuple[bytes, ...]:
        """The requests that the checks run so far began with, in the order of those checks."""
        return tuple(
            found
            for so_far, found in self._known.items()
            if len(so_far) == ASKED and isinstance(found, bytes)
        )

    def __getattr__(self, name):
        found = getattr(self._check, name)
        return partial(self._run, found) if name in self._check.STEPS else found

    def _run(self, check_step, answer, *, aspect=None, hidden=False):
        if not isinstance(answer, RemoteAnswer):
            check_step(answer, aspect=aspect, hidden=hidden)
            return
        step = check_step.__name__
        asked = (step, aspect, hidden)
        if isinstance(answer, Proven) and step in answer.steps and asked in self._right_shape:
            print(self._right_shape[asked], end="")
            return
        talk = Talk(answer, self._known, self._questions, asked)
        verdict = talk.recall() or talk.hold(partial(check_step, aspect=aspect, hidden=hidden))
        if hidden and aspect != "shape" and verdict.keeps_shape and isinstance(answer, Handle):
            answer.has_right_shape(step)
        if verdict.mistake is not None:
            mistake = copy.copy(verdict.mistake)  # since whoever catches it may change it
            raise line.told(mistake, self._line(step, answer, hidden, talk.so_far))
        print(verdict.printed, end="")
        if aspect == "shape" and not (isinstance(answer, Handle) and answer.shows_steps):
            self._right_shape[asked] = verdict.printed

    def _line(self, step, answer, hidden, replies):
        """Where an answer is wrong, if that may be looked for by now and is found."""
        definition = answer.definition
        if definition is None:
            return None
        here, anywhere = (step, definition), (replies, definition.text)
        if here not in self._lines:
            if anywhere not in self._lines_of_all:
                found = line.locate(step, answer, hidden=hidden)
                self._lines_of_all[anywhere] = found and found.moved(-definition.first)
            found = self._lines_of_all[anywhere]
            self._lines[here] = found and found.moved(definition.first)
        return self._lines[here]


class Talk(RemoteAnswer):
    """One check's conversation with one answer, along what is `known` as far as that goes."""

    def __init__(self, answer: RemoteAnswer, known: dict, questions: dict, asked: tuple):
        self._answer = answer
        self._known = known
        self._questions = questions
        self.so_far = asked
        self._replies = {}

    def recall(self) -> Verdict | None:
        """The Verdict, if an answer has replied like this one."""
        while isinstance(found := self._known.get(self.so_far), bytes):
            self._ask(found)
        return found

    def hold(self, check_step) -> Verdict:
        """Have the check ask what is not known yet, and remember what comes of it."""
        self.so_far = self.so_far[:ASKED]
        printed = io.StringIO()
        try:
            with contextlib.redirect_stdout(printed):
                check_step(self)
            mistake = None
        except Mistake as error:
            mistake = copy.copy(error)  # without the frames that hold the answer and its replies
        verdict = Verdict(printed.getvalue(), mistake)
        self._known[self.so_far] = verdict
        return verdict

    def observe(self, request: bytes) -> bytes:
        self._known[self.so_far] = self._questions.setdefault(request, request)
        return self._ask(request)

    def _ask(self, request):
        if request not in self._replies:
            self._replies[request] = self._answer.observe(request)
        reply = self._replies[request]
        self.so_far += (hashlib.sha256(reply).digest(),)
        return reply
