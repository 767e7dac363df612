"""Checks whose verdicts are remembered, on answers that live in this process."""

import contextlib
import gc
import weakref
from types import SimpleNamespace

import pytest

from attention_lab.check import Mistake
from attention_lab.observation import RemoteAnswer
from classroom.grading import handles
from classroom.grading.handles import Handle, Proven
from classroom.grading.learner import NoAnswer
from classroom.grading.verdicts import Verdicts


class Answer(RemoteAnswer):
    """Replies to each question with the next of `replies`; an exception is raised."""

    def __init__(self, *replies):
        self.replies = list(replies)
        self.asked = []

    def observe(self, request):
        self.asked.append(request)
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply


class Check:
    """A module with one check: asks once, and again where the first reply is not b"right". As the
    real ones do, it makes its questions anew each time, and raises a Mistake beside another error.
    """

    STEPS = ("attend",)
    nothing_to_try = "as it is"

    def __init__(self):
        self.judged = 0
        self.numbers = b""

    @property
    def attend(self):
        def attend(answer, *, aspect=None, hidden=False):
            first = answer.observe(b"first" + self.numbers + bytes(hidden))
            second = b"" if first == b"right" else answer.observe(b" ".join([b"with", b"steps"]))
            self.judged += 1
            try:
                (first + second).index(b"right")
            except ValueError:
                raise Mistake("attend", aspect, f"saw {first!r}", "means", "look") from None
            print("passed with right steps" if second else "passed")

        return attend


@pytest.fixture
def check():
    return Check()


@pytest.fixture
def verdicts(check):
    return Verdicts(check)


def test_answers_that_reply_alike_are_judged_once(check, verdicts, capsys):
    for _ in range(3):
        answer = Answer(b"right")
        verdicts.attend(answer, aspect="value", hidden=True)
        assert answer.asked == [b"first\0"]
    assert check.judged == 1
    assert capsys.readouterr().out == "passed\n" * 3


def test_mistake_is_raised_for_each_who_makes_it(check, verdicts):
    for _ in range(2):
        answer = Answer(b"wrong", b"wrong")
        with pytest.raises(Mistake, match="saw b'wrong'"):
            verdicts.attend(answer, aspect="value")
        assert answer.asked == [b"first", b"with steps"]
    assert check.judged == 1


def test_nothing_of_an_answer_is_kept_with_its_mistake(verdicts):
    for _ in range(2):
        answer = Answer(b"wrong", b"wrong")
        there = weakref.ref(answer)
        with contextlib.suppress(Mistake):
            verdicts.attend(answer)
        del answer
        gc.collect()
        assert there() is None


def test_what_becomes_of_a_mistake_is_not_remembered(verdicts):
    cards = []
    for _ in range(2):
        with pytest.raises(Mistake) as raised:
            verdicts.attend(Answer(b"wrong", b"wrong"))
        cards.append(raised.value.card)
        raised.value.card = "shown"
    assert cards == ["", ""]


def test_equal_questions_are_kept_once(verdicts):
    for reply in (b"wrong", b"other"):
        with pytest.raises(Mistake):
            verdicts.attend(Answer(reply, reply))
    kept = [known for known in verdicts._known.values() if isinstance(known, bytes)]
    assert kept == [b"first", b"with steps", b"with steps"]
    assert kept[1] is kept[2]


def test_answers_part_at_the_first_reply_that_differs(check, verdicts):
    for replies in ((b"wrong", b"wrong"), (b"other", b"wrong")):
        with pytest.raises(Mistake, match=f"saw {replies[0]!r}"):
            verdicts.attend(Answer(*replies))
    verdicts.attend(Answer(b"wrong", b"right"))
    assert check.judged == 3


@pytest.mark.parametrize("how", [{"aspect": "shape"}, {"hidden": True}])
def test_another_question_is_another_verdict(check, verdicts, how):
    verdicts.attend(Answer(b"right"))
    verdicts.attend(Answer(b"right"), **how)
    assert check.judged == 2


def test_reply_to_one_question_answers_no_other(check, verdicts):
    verdicts.attend(Answer(b"right"))
    check.numbers = b" of other numbers"
    answer = Answer(b"rounded off", b"right", b"right")
    verdicts.attend(answer)
    assert answer.asked == [b"first", b"first of other numbers"]


def test_shape_that_is_right_with_right_steps_only_has_words_of_its_own(
    verdicts, capsys, monkeypatch
):
    class Observer(Answer):
        def ask(self, do, name, request, steps):
            return {}, self.observe(request)

    monkeypatch.setattr(handles, "_shows_steps", b"with steps".__eq__)  # as Check asks
    proven = Proven("attend", {"attend"})
    verdicts.attend(Handle("attend", Observer(b"wrong", b"right"), True), aspect="shape")
    with pytest.raises(NoAnswer):
        verdicts.attend(proven, aspect="shape")
    verdicts.attend(Answer(b"right"), aspect="shape")
    verdicts.attend(proven, aspect="shape")
    assert capsys.readouterr().out.splitlines() == ["passed with right steps", "passed", "passed"]


def test_answer_that_stops_replying_leaves_no_verdict(check, verdicts):
    for _ in range(2):
        with pytest.raises(TimeoutError):
            verdicts.attend(Answer(b"wrong", TimeoutError()))
    verdicts.attend(Answer(b"wrong", b"right"))
    assert check.judged == 1


def test_first_questions_are_known_from_whoever_was_asked(verdicts):
    for hidden in (True, False):
        with pytest.raises(TimeoutError):
            verdicts.attend(Answer(b"wrong", TimeoutError()), hidden=hidden)
    assert verdicts.first_questions() == (b"first\0", b"first")


def test_answer_in_this_process_is_judged_each_time(check, verdicts):
    local = SimpleNamespace(observe=lambda request: b"right")
    verdicts.attend(local)
    verdicts.attend(local)
    assert check.judged == 2


def test_everything_else_is_the_modules_own(verdicts):
    assert verdicts.nothing_to_try == "as it is"
    with pytest.raises(AttributeError):
        _ = verdicts.nothing
