"""A sandbox seen from outside, with a small program for its host."""

import os
import sys

import psutil
import pytest

from classroom.grading import confinement
from classroom.grading.confinement import Broken, Confinement
from classroom.grading.limits import Limits

HOST = """
import os, socket, sys
from classroom.grading.sandbox import wire

channel = wire.Channel(socket.socket(fileno=int(sys.argv[1])))
how = sys.argv[2]
if how == "dies at once":
    sys.exit(1)
channel.send({"ready": True})
try:
    while True:
        message, _, given = channel.receive_with_socket()
        if message["do"] == "start":
            given.send(b"hello")
        if message["do"] == "interrupt":
            os._exit(1)
        changed = ["limits"] if how == "is changed" else []
        channel.send({"changed": changed, "worn": how == "is worn", "killed": how == "is killed"})
except wire.Closed:
    pass
"""


@pytest.fixture
def start(monkeypatch):
    """Starts a Confinement whose host is HOST."""
    started = []

    def make(how="", **options):
        def command(descriptor, limits, work):
            return [sys.executable, "-c", HOST, str(descriptor), how]

        monkeypatch.setattr(confinement.bubblewrap, "host_command", command)
        started.append(Confinement("none", Limits(), **options))
        return started[-1]

    yield make
    for each in started:
        each.close()


def test_host_answers(start):
    sandbox = start()
    sandbox.wait_until_ready()
    sandbox.ping()
    assert sandbox.overstepped is None


def test_submission_has_a_conversation_of_its_own(start):
    sandbox = start()
    sandbox.wait_until_ready()
    channel = sandbox.start_submission()
    assert channel.sock.recv(5) == b"hello"
    channel.close()


def test_unchanged_host_serves_the_next_one(start):
    sandbox = start()
    sandbox.wait_until_ready()
    assert sandbox.end_submission() == ()
    assert not sandbox.worn


def test_changed_host_is_worn(start):
    sandbox = start("is changed")
    sandbox.wait_until_ready()
    assert sandbox.end_submission() == ("limits",)
    assert sandbox.worn


def test_worn_host_is_worn_without_a_reason(start):
    sandbox = start("is worn")
    sandbox.wait_until_ready()
    assert sandbox.end_submission() == ()
    assert sandbox.worn


def test_host_is_worn_after_so_many_submissions(start, monkeypatch):
    monkeypatch.setattr(confinement, "MAX_SUBMISSIONS", 2)
    sandbox = start()
    sandbox.wait_until_ready()
    worn = []
    for _ in range(2):
        sandbox.end_submission()
        worn.append(sandbox.worn)
    assert worn == [False, True]


def test_host_that_does_not_start_is_broken(start):
    with pytest.raises(Broken, match="unexpectedly"):
        start("dies at once").wait_until_ready()


BUBBLEWRAP = {
    "says nothing": ["true"],
    "is cut short": ["sh", "-c", "echo '{' >&$0"],
    "keeps silent": ["sleep", "60"],
    "is missing": ["no-such-program"],
}


@pytest.mark.parametrize("how", BUBBLEWRAP)
def test_bubblewrap_that_does_not_start_is_broken(monkeypatch, how):
    def command_line(limits, call_filter, info):
        return [*BUBBLEWRAP[how], str(info)]

    monkeypatch.setattr(confinement.bubblewrap, "command_line", command_line)
    monkeypatch.setattr(confinement.bubblewrap, "host_command", lambda *_: [])
    monkeypatch.setattr(confinement, "INFO_SECONDS", 0.2)
    descriptors, children = len(os.listdir("/proc/self/fd")), psutil.Process().children()
    with pytest.raises(Broken, match="did not start"):
        Confinement("bubblewrap", Limits())
    assert len(os.listdir("/proc/self/fd")) == descriptors
    assert psutil.Process().children() == children


def test_host_that_dies_is_broken_from_then_on(start):
    sandbox = start()
    sandbox.wait_until_ready()
    for ask in (sandbox.interrupt, sandbox.ping, sandbox.start_submission, sandbox.end_submission):
        with pytest.raises(Broken):
            ask()


def test_host_runs_on_its_cores_and_this_process_on_all(start):
    all_cores = os.sched_getaffinity(0)
    some = {max(all_cores)}
    sandbox = start(cores=some)
    assert os.sched_getaffinity(sandbox.host.pid) == some
    assert os.sched_getaffinity(0) == all_cores
    assert os.sched_getaffinity(start().host.pid) == all_cores


def test_host_runs_anywhere_where_its_cores_are_gone(start):
    sandbox = start(cores={1023})
    assert os.sched_getaffinity(sandbox.host.pid) == os.sched_getaffinity(0)


def test_nothing_is_left_of_a_closed_one(start):
    sandbox = start()
    sandbox.wait_until_ready()
    folder = sandbox._folder
    assert folder.is_dir()
    sandbox.close()
    assert not psutil.pid_exists(sandbox.host.pid)
    assert not folder.exists()


def test_host_is_the_first_to_go_where_memory_runs_out(start):
    sandbox = start()
    sandbox.wait_until_ready()
    with open(f"/proc/{sandbox.host.pid}/oom_score_adj") as file:
        assert file.read() == "1000\n"


def test_descriptors_are_closed_again(start):
    before = len(os.listdir("/proc/self/fd"))
    sandbox = start()
    sandbox.wait_until_ready()
    sandbox.close()
    assert len(os.listdir("/proc/self/fd")) == before
