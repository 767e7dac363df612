import subprocess

import pytest

from classroom.grading import bubblewrap, seccomp
from classroom.grading.limits import Limits


def test_this_machine_has_a_sandbox():
    bubblewrap.require()


def test_missing_program_is_said_with_what_to_do(monkeypatch):
    monkeypatch.setattr(bubblewrap.shutil, "which", lambda name: None)
    with pytest.raises(bubblewrap.NoSandbox) as caught:
        bubblewrap.require()
    message = str(caught.value)
    assert "bwrap is not installed" in message
    assert "apt-get install bubblewrap" in message
    assert 'isolation = "none"' in message


def test_failing_program_is_quoted(monkeypatch):
    failed = subprocess.CompletedProcess([], 1, "", "bwrap: no user namespaces")
    monkeypatch.setattr(bubblewrap, "_try_out", lambda command: failed)
    with pytest.raises(bubblewrap.NoSandbox, match="no user namespaces"):
        bubblewrap.require()


def test_silent_program_is_given_up(monkeypatch):
    def hang(command):
        raise subprocess.TimeoutExpired(command, 20)

    monkeypatch.setattr(bubblewrap, "_try_out", hang)
    with pytest.raises(bubblewrap.NoSandbox, match="20 seconds"):
        bubblewrap.require()


def test_unknown_machine_has_none(monkeypatch):
    monkeypatch.setattr(seccomp.platform, "machine", lambda: "s390x")
    with pytest.raises(bubblewrap.NoSandbox, match="s390x"):
        bubblewrap.require()


def test_nothing_of_the_machine_is_writable_but_the_scratch():
    command = bubblewrap.command_line(Limits(), 3)
    assert "--bind" not in command
    assert "--dev-bind" not in command
    assert "--share-net" not in command
    assert "--clearenv" in command


def test_checks_are_masked_and_the_course_is_not_bound():
    command = bubblewrap.command_line(Limits(), 3)
    bound = [command[i + 1] for i, word in enumerate(command) if word == "--ro-bind"]
    check = str(bubblewrap.lab() / "check")
    assert [path for path in bound if path.startswith(check)] == [f"{check}/mistake.py"]
    assert str(bubblewrap.lab().parent) not in bound
    assert command.index(str(bubblewrap.lab())) < command.index(check)
