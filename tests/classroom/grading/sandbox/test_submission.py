"""What a submission's process answers, in a thread of this one."""

import os
import socket
import threading

import pytest
import torch

from attention_lab import observation
from attention_lab.observation import Call, Observation, Probe, Request
from classroom.grading.sandbox import submission, wire


@pytest.fixture
def ask():
    """Asks about these names as the judge does; returns the answer and its bytes."""
    ours, theirs = socket.socketpair()
    channel = wire.Channel(ours)
    names = {
        "double": lambda x: 2 * x,
        "fail": lambda x: 1 / 0,
        "n": 3,
        "x": torch.ones(2),
        "stream": (i for i in ()),
    }

    def serve():
        try:
            submission.serve_observer(wire.Channel(theirs), names)
        except wire.Closed:
            theirs.close()

    thread = threading.Thread(target=serve)
    thread.start()

    def question(do, name, payload=b""):
        channel.send({"do": do, "name": name}, payload)
        return channel.receive()

    yield question
    channel.close()
    thread.join()


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("double", {"is": "callable"}),
        ("n", {"is": "data", "json": 3}),
        ("x", {"is": "data"}),
        ("stream", {"is": "something else", "type": "generator"}),
        ("nothing", {"is": "missing"}),
    ],
)
def test_names_are_described(ask, name, what):
    assert ask("describe", name)[0] == what


def test_function_is_observed(ask):
    probe = Probe("double", "two numbers", (Call((torch.ones(2),)),))
    _, payload = ask("observe", "double", observation.encode(Request((probe,))))
    (seen,) = observation.decode(payload, tuple[Observation, ...])
    assert torch.equal(seen.outcomes[0].output, 2 * torch.ones(2))


def test_function_is_called(ask):
    header, payload = ask("call", "double", observation.encode((torch.ones(2),)))
    assert header == {}
    assert torch.equal(observation.decode(payload, torch.Tensor), 2 * torch.ones(2))


def test_call_that_fails_says_so_in_a_line(ask):
    header, _ = ask("call", "fail", observation.encode((1,)))
    assert header == {"failed": "ZeroDivisionError: division by zero"}


def test_observer_ends_with_the_submission(orphaned, monkeypatch):
    def observe(written):
        ours, theirs = socket.socketpair()
        monkeypatch.setattr(submission, "serve_observer", lambda *_: os.write(written, b"served"))
        submission._fork_observer(wire.Channel(ours), theirs, {})

    assert orphaned(observe) == b""


def test_files_are_written_into_folders(tmp_path):
    submission._write(tmp_path, "data/words.txt", b"the cat")
    assert (tmp_path / "data" / "words.txt").read_bytes() == b"the cat"
