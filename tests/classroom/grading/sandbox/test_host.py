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
    found = Host(Channel(), shell=None, work=tmp_path)
    found.tidy()
    return found


def test_submission_finds_empty_folders(tidy_host, tmp_path):
    for name in ("submission", "home"):
        (tmp_path / name / "deep").mkdir()
        (tmp_path / name / "deep" / "file").touch()
    (tmp_path / "left-over").touch()
    tidy_host.tidy()
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["home", "submission"]


def test_tidying_follows_no_link(tidy_host, tmp_path, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "kept").touch()
    (tmp_path / "link").symlink_to(elsewhere)
    (tmp_path / "home" / "link").symlink_to(elsewhere)
    tidy_host.tidy()
    assert (elsewhere / "kept").exists()
    assert not (tmp_path / "link").is_symlink()


def test_in_a_sandbox_all_places_are_emptied(tidy_host, tmp_path, monkeypatch):
    shared = tmp_path / "shared"
    shared.mkdir()
    (shared / "memory").touch()
    monkeypatch.setattr(host, "alone", lambda: True)
    monkeypatch.setattr(state, "PLACES", (shared,))
    tidy_host.work = shared
    tidy_host.tidy()
    assert sorted(path.name for path in shared.iterdir()) == ["home", "submission"]


def test_end_of_a_submission_tells_what_changed(tidy_host, tmp_path, tmp_path_factory, monkeypatch):
    others = shutil.copytree(state.IPC, tmp_path_factory.mktemp("others") / "ipc")
    monkeypatch.setattr(host, "kill_others", lambda child: None)
    monkeypatch.setattr(host, "alone", lambda: True)
    monkeypatch.setattr(state, "PLACES", (tmp_path,))
    monkeypatch.setattr(state, "IPC", others)
    tidy_host.before = state.snapshot()
    tidy_host.end()
    tidy_host.before |= {"priority": 19}
    tidy_host.end()
    assert tidy_host.channel.sent == [{"changed": []}, {"changed": ["priority"]}]


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
