"""The host of a sandbox without a sandbox: here it is not the first process."""

import ctypes
import os
import shutil
import socket
import subprocess

import pytest

from classroom.grading.limits import Limits
from classroom.grading.sandbox import host, state, wire
from classroom.grading.sandbox.host import Host

PR_GET_DUMPABLE = 3


class Channel:
    def __init__(self):
        self.sent = []

    def send(self, message):
        self.sent.append(message)


@pytest.fixture
def tidy_host(tmp_path):
    return Host(Channel(), shell=None, work=tmp_path / "work")


@pytest.fixture
def started(tidy_host, monkeypatch):
    """A host whose submissions do nothing."""
    monkeypatch.setattr(tidy_host, "become_submission", lambda *_: os._exit(0))
    monkeypatch.setattr(host, "kill_others", lambda child: os.waitpid(child, 0))
    return tidy_host


def begin(of):
    ours, theirs = socket.socketpair()
    with ours:
        of.start(theirs)


def names(folder):
    return sorted(path.name for path in folder.rglob("*"))


def test_submission_finds_empty_folders(started):
    begin(started)
    for name in ("submission", "home"):
        (started.work / name / "deep").mkdir()
        (started.work / name / "deep" / "file").touch()
    (started.work / "left-over").touch()
    started.end()
    begin(started)
    assert names(started.work) == ["home", "submission"]
    started.end()


def test_emptying_follows_no_link(started, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "kept").touch()
    begin(started)
    (started.work / "link").symlink_to(elsewhere)
    (started.work / "home" / "link").symlink_to(elsewhere)
    started.end()
    assert (elsewhere / "kept").exists()
    assert not started.work.exists()


def test_folder_that_cannot_be_emptied_is_told(started, monkeypatch):
    def fail(folder):
        raise PermissionError

    begin(started)
    monkeypatch.setattr(host.shutil, "rmtree", fail)
    started.end()
    assert started.channel.sent[-1]["changed"] == ["files (PermissionError)"]


@pytest.fixture
def alone(started, tmp_path_factory, monkeypatch):
    """A host that takes itself for the first process of a sandbox."""
    others = shutil.copytree(state.IPC, tmp_path_factory.mktemp("others") / "ipc")
    monkeypatch.setattr(host, "kill_others", lambda child: None)
    monkeypatch.setattr(host, "alone", lambda: True)
    monkeypatch.setattr(state, "IPC", others)
    numbers = iter(range(1000))
    monkeypatch.setattr(state, "next_number", numbers.__next__)
    monkeypatch.setattr(state, "use_up", lambda n: [next(numbers) for _ in range(n)])
    started.before = state.snapshot()
    started.number = state.next_number()
    return started


def test_end_of_a_submission_tells_what_changed(alone):
    alone.end()
    alone.before |= {"priority": 19}
    alone.end()
    assert [sent["changed"] for sent in alone.channel.sent] == [[], ["priority"]]


@pytest.mark.parametrize(("used", "worn"), [(0, False), (100, False), (127, False), (128, True)])
def test_next_submission_gets_the_same_number_whatever_this_one_used(alone, used, worn):
    for _ in range(used):
        state.next_number()
    alone.end()
    assert alone.channel.sent == [{"changed": [], "worn": worn}]
    assert worn or state.next_number() == host.NUMBERS + 1


def test_requests_are_told_apart(monkeypatch):
    expected = []
    monkeypatch.setattr(host.observation, "read_ahead", expected.append)
    host.read_ahead([3, 0, 2], b"onetw")
    assert expected == [b"one", b"", b"tw"]


def test_interrupt_of_an_ended_submission_is_harmless(tidy_host):
    with subprocess.Popen(["true"]) as ended:
        ended.wait()
    tidy_host.child = ended.pid
    tidy_host.interrupt()
    assert tidy_host.channel.sent == [{}]


def test_processes_of_a_submission_are_killed(in_fork, tmp_path):
    def leave_one_behind():
        program = f"sleep 20; touch {tmp_path}/survived"
        with subprocess.Popen(["sh", "-c", program], start_new_session=True) as process:
            host.kill_others(process.pid)

    assert in_fork(leave_one_behind) == 0
    assert not any(tmp_path.iterdir())


def test_number_of_an_ended_submission_stays_its_own_until_it_is_forgotten(
    tidy_host, in_fork, monkeypatch
):
    monkeypatch.setattr(tidy_host, "become_submission", lambda *_: os._exit(0))

    def start_and_end():
        host.harden(Limits().as_dict())
        tidy_host.start(*socket.socketpair()[:1])
        child = tidy_host.child
        os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)  # fails if there is none
        tidy_host.end()
        with pytest.raises(ChildProcessError):
            os.waitpid(child, 0)
        assert tidy_host.child is None

    assert in_fork(start_and_end) == 0


def test_submission_ends_with_its_host(tidy_host, orphaned, monkeypatch):
    def start(written):
        monkeypatch.setattr(host, "serve", lambda *_: os.write(written, b"served"))
        tidy_host.channel = wire.Channel(socket.socketpair()[0])
        tidy_host.start(socket.socketpair()[0])

    assert orphaned(start) == b""


def test_memory_of_a_host_without_a_sandbox_may_be_measured(in_fork):
    def harden():
        host.harden(Limits().as_dict())
        assert ctypes.CDLL(None).prctl(PR_GET_DUMPABLE) == 1

    assert in_fork(harden) == 0


@pytest.mark.parametrize("when", ["warm_up", "serve"])
def test_host_without_a_sandbox_leaves_no_folder(in_fork, monkeypatch, tmp_path, when):
    folder = tmp_path / "grading-1"
    (folder / "work").mkdir(parents=True)

    def serve():
        ours, theirs = socket.socketpair()
        monkeypatch.setattr(host, "warm_up", lambda _: when == "warm_up" and ours.close())
        monkeypatch.setattr(Host, "serve", lambda self: ours.close() or self.channel.receive())
        monkeypatch.setattr(host, "harden", lambda limits: None)
        host.main(theirs.detach(), folder / "work", Limits().as_dict())

    assert in_fork(serve) == 0
    assert not any(tmp_path.iterdir())
