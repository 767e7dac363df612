import os
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
    monkeypatch.setattr(bubblewrap, "_try_out", lambda *_: failed)
    with pytest.raises(bubblewrap.NoSandbox, match="no user namespaces"):
        bubblewrap.require()


def test_folders_that_cannot_be_renewed_are_said(monkeypatch):
    monkeypatch.setattr(bubblewrap.Folders, "renew", lambda _: os.close(-1))
    with pytest.raises(bubblewrap.NoSandbox, match=r"cannot be renewed .*Bad file descriptor"):
        bubblewrap.require()


def test_silent_program_is_given_up(monkeypatch):
    def hang(*_):
        raise subprocess.TimeoutExpired([], 20)

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
    assert command.count("--dev-bind") == 1  # of one device in the place of another
    assert "--share-net" not in command
    assert "--clearenv" in command


def bound(command):
    """Where each folder or file of the machine can be read inside, in order."""
    return [(command[i + 1], command[i + 2]) for i, w in enumerate(command) if w == "--ro-bind"]


def test_checks_are_masked_and_the_course_is_not_bound():
    command = bubblewrap.command_line(Limits(), 3)
    masked = [inside for _, inside in bound(command) if "/attention_lab/check" in inside]
    assert masked == [f"/course/attention_lab/check/{n}.py" for n in ("__init__", "mistake")]
    assert str(bubblewrap.lab().parent) not in dict(bound(command))
    assert command.index("/course/attention_lab") < command.index("/course/attention_lab/check")


def test_checks_are_masked_too_where_the_package_is_installed(monkeypatch, tmp_path):
    monkeypatch.setattr(bubblewrap, "python_roots", lambda: [tmp_path])
    monkeypatch.setattr(bubblewrap, "lab", lambda: tmp_path / "attention_lab")
    command = bubblewrap.command_line(Limits(), 3)
    check = str(tmp_path / "attention_lab" / "check")
    assert command[command.index(check) - 1] == "--tmpfs"
    assert command.index(str(tmp_path)) < command.index(check)


@pytest.mark.parametrize("folder", ["/tmp/venv", "/opt/venv"])
def test_python_may_lie_in_tmp(monkeypatch, folder):
    monkeypatch.setattr(bubblewrap, "python_roots", lambda: [bubblewrap.Path(folder)])
    command = bubblewrap.command_line(Limits(), 3)
    assert ("/tmp" in command) is (folder == "/opt/venv")


@pytest.fixture
def look(tmp_path):
    """What a sandbox sees of a folder below one that is mounted."""
    shown = tmp_path / "shown"
    shown.mkdir()

    def look(command, *, hidden=(), paths=()):
        mounts = bubblewrap._readable(
            [*map(bubblewrap.Path, bubblewrap.SYSTEM), shown, *paths], hidden
        )
        told = subprocess.run(
            ["bwrap", "--unshare-all", *mounts, "--dev", "/dev", "/bin/sh", "-c", command],
            capture_output=True, text=True, cwd=shown, check=False,
        )  # fmt: skip
        return (told.stdout + told.stderr).split()

    look.shown = shown
    return look


def test_hidden_folder_is_empty_and_not_writable(look):
    course = look.shown / "lib" / "course"
    (course / "source").mkdir(parents=True)
    (course.parent / "module.py").touch()
    command = f"ls {course.parent} {course}; touch {course}/note 2>/dev/null && echo WRITTEN"
    assert "source" in look(command)
    seen = look(command, hidden=(str(course),))
    assert "module.py" in seen
    assert not {"source", "WRITTEN"}.intersection(seen)


def test_hidden_file_is_empty(look):
    gradebook = look.shown / "gradebook.db"
    gradebook.write_text("secret")
    assert look(f"cat {gradebook}") == ["secret"]
    assert "secret" not in look(f"cat {gradebook}", hidden=(str(gradebook),))


def test_python_is_there_even_in_a_hidden_folder(look):
    course, python = look.shown / "course", look.shown / "course" / "venv" / "lib"
    python.mkdir(parents=True)
    (python / "os.py").touch()
    (course / "source").mkdir()
    seen = look(f"ls {course} {python}", hidden=(str(course),), paths=[python])
    assert "os.py" in seen
    assert "source" not in seen


def test_hidden_folder_is_hidden_by_each_of_its_names(look, tmp_path):
    course, other = look.shown / "course", tmp_path / "other"
    (course / "source").mkdir(parents=True)
    other.symlink_to(look.shown)
    assert "source" not in look(
        f"ls {other}/course", hidden=(str(other / "course"),), paths=[other]
    )


def test_of_a_python_only_what_it_needs_is_there(monkeypatch, tmp_path):
    for name in ("bin", "lib", "course", "share"):
        (tmp_path / name).mkdir()
    monkeypatch.setattr(bubblewrap.sys, "prefix", str(tmp_path))
    command = bubblewrap.command_line(Limits(), 3)
    mounted = {outside for outside, _ in bound(command) if outside.startswith(f"{tmp_path}/")}
    assert mounted == {f"{tmp_path}/bin", f"{tmp_path}/lib"}


def test_nothing_hidden_is_told_to_the_host():
    assert "secret" not in str(bubblewrap.host_command(3, Limits(hidden=("/secret",))))
