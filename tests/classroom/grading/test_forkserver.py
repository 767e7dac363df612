"""The process that workers are forked from, in a fork of this one, without sandboxes."""

import os
import socket

import pytest

from classroom.grading import forkserver, worker
from classroom.grading.forkserver import ForkServer
from classroom.grading.job import Job
from classroom.grading.judge import CourseError
from classroom.grading.limits import Limits
from classroom.grading.sandbox import wire


class Sandbox:
    def __init__(self, isolation, limits, cores):
        self.cores = cores
        self.handed_over = False

    def hand_over(self):
        self.handed_over = True

    def close(self):
        pass


class Judge:
    prepared = ()

    def prepare(self, job):
        self.prepared += job.setup
        if job.setup == ("1 / 0",):
            raise CourseError("division by zero")


def introduce(channel, grader):
    """In place of serving: say who this worker is."""
    others = [sandbox.handed_over for sandbox in Sandbox.made if sandbox is not grader.confinement]
    has_one = grader.confinement is not None and not grader.confinement.handed_over
    about = {"pid": os.getpid(), "prepared": grader.judge.prepared, "has a sandbox": has_one}
    about |= {"cores": grader.cores, "of its sandbox": has_one and grader.confinement.cores}
    channel.send(about | {"others are let go": all(others)})


@pytest.fixture
def server(monkeypatch):
    """Asks a fork server with two sandboxes; returns its answer, or that of the new worker."""
    Sandbox.made = []
    monkeypatch.setattr(
        forkserver, "Confinement", lambda *a: Sandbox.made.append(Sandbox(*a)) or Sandbox.made[-1]
    )
    monkeypatch.setattr(forkserver, "_make_judge", lambda *_: Judge())
    monkeypatch.setattr(worker, "serve", introduce)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {4, 5, 6})
    ours, theirs = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        try:
            ours.close()
            ForkServer(wire.Channel(theirs), "none", Limits(), 1, size=2).serve()
        finally:
            os._exit(0)
    theirs.close()
    channel = wire.Channel(ours)

    def ask(do, **message):
        channel.send({"do": do, **message})
        return channel.receive()[0]

    def fork(number=0):
        mine, given = socket.socketpair()
        with given:
            channel.send({"do": "fork", "number": number}, give=given)
        pid = channel.receive()[0]["pid"]
        new = wire.Channel(mine)
        about, _ = new.receive()
        assert about.pop("pid") == pid
        with pytest.raises(wire.Closed):  # nobody else holds the other end
            new.receive()
        new.close()
        return about

    ask.fork = fork
    yield ask
    channel.close()
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def prepare(server, *setup):
    assert server("prepare", job=Job((), setup).to_message()[0]) == {}


def test_worker_has_one_of_the_sandboxes_to_itself(server):
    for number, has_one in ((1, True), (0, True), (1, False)):
        about = server.fork(number)
        assert about["has a sandbox"] == has_one
        assert about["others are let go"]


def test_sandboxes_of_a_worker_have_the_same_cores_whoever_died(server):
    first, second, next_one = (server.fork(number) for number in (0, 1, 0))
    assert first["cores"] == first["of its sandbox"] == next_one["cores"] == [4, 6]
    assert second["cores"] == second["of its sandbox"] == [5]


@pytest.mark.parametrize(
    ("size", "shares"),
    [
        (1, [{2, 3, 6, 7}]),
        (2, [{2, 6}, {3, 7}]),
        (3, [{2, 7}, {3}, {6}]),
        (4, [{2}, {3}, {6}, {7}]),
        (6, [{2}, {3}, {6}, {7}, {2}, {3}]),
    ],
)
def test_cores_are_shared_out(monkeypatch, size, shares):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {7, 3, 2, 6})
    assert [set(forkserver.cores_of(number, size)) for number in range(size)] == shares


def test_what_was_prepared_every_worker_knows(server):
    prepare(server, "n = 1")
    assert [server.fork()["prepared"] for _ in range(2)] == [["n = 1"]] * 2


def test_failing_set_up_is_left_to_the_workers_to_tell(server):
    prepare(server, "1 / 0")
    assert server.fork()["prepared"] == ["1 / 0"]
