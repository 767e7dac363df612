"""A submission seen from outside, with a thread in its place."""

import contextlib
import itertools
import socket
import threading

import pytest

from classroom.grading import learner
from classroom.grading.confinement import Broken
from classroom.grading.job import File
from classroom.grading.learner import Gone, Learner, NoAnswer
from classroom.grading.limits import Limits
from classroom.grading.patience import Patience
from classroom.grading.sandbox import wire
from classroom.grading.sandbox.recorder import CUT

SHOWN = {"count": 1, "outputs": [{"output_type": "stream", "name": "stdout", "text": "hello"}]}
LONG, SHORT = Limits(cell=60, grace=60), Limits(cell=0.2, grace=0.2)
INTERRUPTED = {"ename": "KeyboardInterrupt", "evalue": "", "traceback": []}


class Sandbox:
    """A confinement whose submission is a thread that answers with `behaves(message)`."""

    overstepped = None
    was_killed = False

    def __init__(self, behaves):
        self.limits = LONG
        self.interrupted = threading.Event()
        self.alive = True
        self._behaves = behaves

    def start_submission(self):
        ours, self.theirs = socket.socketpair()
        self.thread = threading.Thread(target=self._serve, args=(wire.Channel(self.theirs),))
        self.thread.start()
        return wire.Channel(ours)

    def interrupt(self):
        self.interrupted.set()

    def ping(self):
        if not self.alive:
            raise Broken("gone")
        return self.was_killed

    def _serve(self, channel):
        with contextlib.closing(channel), contextlib.suppress(wire.Closed, OSError):
            while True:
                answer = self._behaves(*channel.receive_with_socket())
                if answer is None:
                    return
                say(channel, answer)


def say(channel, answer):
    """Send a message, or bytes that are none."""
    channel.sock.sendall(answer) if isinstance(answer, bytes) else channel.send(answer)


def message(answer):
    """The bytes of a message."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        wire.Channel(theirs).send(answer)
        return ours.recv(1000)


@pytest.fixture
def start():
    """Starts a Learner whose submission behaves like this."""
    started = []

    def make(behaves, **settings):
        sandbox = Sandbox(behaves)
        vars(sandbox).update(settings)
        started.append(Learner(sandbox, Patience(sandbox.limits)))
        return started[-1]

    yield make
    for each in started:
        each.close()
        each.confinement.thread.join()


def test_cell_shows_what_the_submission_says(start):
    ran = start(lambda *_: SHOWN).run("print('hello')")
    assert (ran.count, *ran.outputs) == (1, *SHOWN["outputs"])


def test_files_are_handed_over(start):
    written = {}

    def behaves(message, payload, _):
        written[message["name"]] = payload
        return {}

    start(behaves).write(File("data/words.txt", b"the cat"))
    assert written == {"data/words.txt": b"the cat"}


@pytest.mark.parametrize(
    "answer",
    [{}, {"count": "1", "outputs": []}, {"count": 1, "outputs": [{"output_type": "magic"}]}],
)
def test_what_is_no_output_ends_the_submission(start, answer):
    broken = start(lambda *_: answer)
    with pytest.raises(Gone, match="no output"):
        broken.run("1")
    with pytest.raises(Gone, match="no output"):
        broken.run("2")


def test_what_is_no_message_ends_the_submission(start):
    with pytest.raises(Gone, match="no message"):
        start(lambda *_: b"\xff" * 20).run("1")


def test_submission_that_dies_is_gone(start):
    with pytest.raises(Gone, match="process ended"):
        start(lambda *_: None).run("exit")


@pytest.mark.parametrize("was_killed", [False, True])
def test_submission_that_was_killed_need_not_have_done_it(start, was_killed):
    with pytest.raises(Gone) as caught:
        start(lambda *_: None, was_killed=was_killed).run("1")
    assert caught.value.from_outside is was_killed


def test_submission_is_not_waited_for_longer_than_it_has(start):
    with pytest.raises(Gone, match="longer than 0 seconds in all"):
        start(lambda *_: SHOWN, limits=Limits(submission=0)).run("1")


def test_names_that_a_failed_cell_defines_are_told(start):
    names = {"defined": ["m", "m", 3, "no name"], "missing": ["sns"]}
    failed = start(lambda *_: SHOWN | names)
    failed.run("import seaborn as sns, math as m")
    assert (failed.defined, failed.missing) == (("m",), ("sns",))


def test_sandbox_that_dies_is_not_the_submissions_fault(start):
    with pytest.raises(Broken):
        start(lambda *_: None, alive=False).run("1")


def test_sandbox_that_the_watchdog_ended_is(start):
    with pytest.raises(Gone, match="2048 MiB"):
        start(lambda *_: None, alive=False, overstepped="it used more than 2048 MiB").run("1")


def test_slow_cell_is_interrupted_and_says_so(start):
    def behaves(*_):
        assert slow.confinement.interrupted.wait(60)
        return {"count": 1, "outputs": [{"output_type": "error", **INTERRUPTED}]}

    slow = start(behaves, limits=Limits(cell=0.2, grace=60))
    (error,) = slow.run("while True: pass").outputs
    assert error["ename"] == "Stopped"
    assert "longer than 0.2 seconds" in error["evalue"]


def test_answer_that_is_half_there_at_the_deadline_is_read_to_its_end(start):
    whole = message(SHOWN)

    def behaves(*_):
        if slow.confinement.interrupted.is_set():
            return SHOWN
        slow.confinement.theirs.sendall(whole[:30])
        assert slow.confinement.interrupted.wait(60)
        return whole[30:]

    slow = start(behaves, limits=Limits(cell=0.2, grace=60))
    hello, stopped = slow.run("print('hello')").outputs
    assert (hello, stopped["ename"]) == (*SHOWN["outputs"], "Stopped")
    slow.limits = LONG
    assert slow.run("print('hello')").outputs == (hello,)


def test_cell_that_cannot_be_interrupted_ends_the_submission(start):
    released = threading.Event()
    with pytest.raises(Gone, match="did not stop"):
        start(lambda *_: released.wait(60) and None, limits=SHORT).run("while True: pass")
    released.set()


def test_of_a_flood_over_many_cells_the_rest_is_left_out(start, monkeypatch):
    monkeypatch.setattr(learner, "MAX_SHOWN", 250)
    short, long = SHOWN["outputs"], [SHOWN["outputs"][0] | {"text": "x" * 200}]
    flooding = start(lambda message, *_: {"count": 1, "outputs": message["source"]})
    cells = [flooding.run(shows) for shows in (short, long, short, short)]
    assert [ran.outputs[0]["text"] for ran in cells] == ["hello", CUT, "hello", CUT]


# --- observing ---


def observing(answers):
    """A submission whose fork says `answers` in turn, None for hanging up, and then nothing."""

    def fork(channel):
        with contextlib.closing(channel), contextlib.suppress(wire.Closed, OSError):
            for answer in answers:
                channel.receive()
                if answer is None:
                    return
                say(channel, answer)
            while True:
                channel.receive()

    def behaves(message, _, given):
        if message["do"] == "observe":
            threading.Thread(target=fork, args=(wire.Channel(given),)).start()
        return {}

    return behaves


def test_observer_passes_on_what_is_asked(start):
    observer = start(observing([{"is": "callable"}])).observer()
    assert observer.ask("describe", "project") == ({"is": "callable"}, b"")
    observer.close()


@pytest.mark.parametrize(
    ("answers", "limits", "reason"),
    [
        ([], SHORT, "longer than 0.2 seconds"),
        ([None], LONG, "ended the Python process"),
        ([b"\xff" * 20], LONG, "could not be read"),
    ],
)
def test_observer_that_does_not_answer_says_why(start, answers, limits, reason):
    with pytest.raises(NoAnswer, match=reason):
        start(observing(answers), limits=limits).observer().ask("observe", "project")


@pytest.mark.parametrize("answers", [[None], [b"\xff" * 20]])
def test_name_that_gave_no_answer_is_asked_nothing_more_until_a_cell_is_run(start, answers):
    behaves = observing(answers)
    learner = start(lambda *said: SHOWN if said[0]["do"] == "run" else behaves(*said))
    with pytest.raises(NoAnswer) as first:
        learner.observer().ask("observe", "project")
    with pytest.raises(NoAnswer) as second:
        learner.observer().ask("observe", "project", b"something else")
    assert second.value is first.value
    learner.run("project = None")
    with pytest.raises(NoAnswer) as third:
        learner.observer().ask("observe", "project")
    assert third.value is not first.value


def test_fork_that_ends_once_is_replaced(start):
    forks = itertools.count()
    ends_once = [observing([None]), observing([{"n": 1}])]
    learner = start(lambda *said: ends_once[min(1, next(forks) // 2)](*said))
    assert learner.observer().ask("observe", "project") == ({"n": 1}, b"")


def test_what_was_observed_is_not_tried_again(start):
    observer = start(observing([{"n": n} for n in range(4)])).observer()
    assert [
        observer.ask(do, "project", payload)[0]["n"]
        for do, payload in [
            ("observe", b"a"),
            ("observe", b"a"),
            ("observe", b"b"),
            ("call", b"a"),
            ("call", b"a"),
        ]
    ] == [0, 0, 1, 2, 3]


def test_what_an_earlier_observer_has_observed_is_not_tried_again(start):
    learner = start(observing([{"n": n} for n in range(2)]))
    first = learner.observer()
    assert first.ask("observe", "project", b"a")[0]["n"] == 0
    assert first.ask("observe", "project", b"b")[0]["n"] == 1
    later = learner.observer(first)
    assert later.ask("observe", "project", b"b")[0]["n"] == 1  # its own fork would say 0
    assert later.ask("observe", "project", b"c")[0]["n"] == 0


def test_time_of_an_observer_is_that_of_all_its_answers(start, monkeypatch):
    observer = start(observing([{}] * 60)).observer()
    monkeypatch.setattr(learner.time, "monotonic", itertools.count().__next__)

    def ask_on():
        for _ in range(60):
            observer.ask("describe", "project")

    for _ in range(2):
        with pytest.raises(NoAnswer, match="longer than 60 seconds"):
            ask_on()
