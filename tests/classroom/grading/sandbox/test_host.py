"""The host of a sandbox without a sandbox: here it is not the first process."""

import os
import signal
import subprocess

import pytest

from classroom.grading.sandbox import host, state
from classroom.grading.sandbox.host import Host


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


def test_end_of_a_submission_tells_what_changed(tidy_host, tmp_path, monkeypatch):
    monkeypatch.setattr(host, "kill_others", lambda child: None)
    monkeypatch.setattr(host, "alone", lambda: True)
    monkeypatch.setattr(state, "PLACES", (tmp_path,))
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


def test_processes_of_a_submission_are_killed():
    child = os.fork()
    if child == 0:  # a process that has no other children to wait for
        with subprocess.Popen(["sleep", "60"], start_new_session=True) as process:
            host.kill_others(process.pid)
            os._exit(process.wait() + 100)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status in (100, 100 - signal.SIGKILL)
