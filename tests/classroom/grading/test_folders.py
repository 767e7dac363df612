"""The folders of a small sandbox, and of a process that is in none."""

import json
import os
import subprocess

import pytest

from classroom.grading import bubblewrap, seccomp
from classroom.grading.folders import Folders
from classroom.grading.limits import Limits

LIMITS = Limits(scratch=1 << 20, files=100)
LOOK = """
echo ready
while read -r _; do
    touch /scratch/seen /dev/shm/seen
    chmod 700 /scratch
    stat -c '%i %a %h' /scratch/seen /dev/shm/seen | tr '\\n' ' '
    ls -A /scratch /dev/shm | wc -l
done
"""


@pytest.fixture
def sandbox():
    """A shell that is told to look, line by line."""
    info, theirs = os.pipe()
    with open(info, encoding="utf-8") as told, open(seccomp.open_filter(), "rb") as call_filter:
        inherited = call_filter.fileno(), theirs
        command = [*bubblewrap.command_line(LIMITS, *inherited), "/bin/sh", "-c", LOOK]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        with subprocess.Popen(command, pass_fds=inherited, **pipes) as process:
            os.close(theirs)
            process.host = json.load(told)["child-pid"]
            process.stdout.readline()
            yield process
            process.stdin.close()


def look(sandbox):
    sandbox.stdin.write("\n")
    sandbox.stdin.flush()
    return sandbox.stdout.readline()


def test_every_time_they_look_as_if_nobody_had_been_there(sandbox):
    folders = Folders(sandbox.host, LIMITS)
    seen = []
    for _ in range(3):
        folders.renew()
        seen.append(look(sandbox))
    folders.close()
    assert seen[0] == seen[1] == seen[2] != ""


def test_process_of_no_sandbox_has_none():
    with subprocess.Popen(["sleep", "60"]) as process:
        folders = Folders(process.pid, LIMITS)
        with pytest.raises(OSError, match="setns"):
            folders.renew()
        folders.close()
        process.kill()


def test_process_that_mounts_ends_when_it_is_closed(sandbox):
    folders = Folders(sandbox.host, LIMITS)
    folders.renew()
    folders.close()
    assert folders._process.returncode == 0
