import subprocess
import sys
import time

import pytest

from classroom.grading.limits import Limits
from classroom.grading.pidfd import Pidfd
from classroom.grading.watchdog import Watchdog, descendants, memory

FAMILY = """
import subprocess, sys, time
children = [subprocess.Popen(["sleep", "60"]) for _ in range(3)]
hoard = bytearray(b"x" * (64 << 20))
print("ready", flush=True)
time.sleep(60)
"""


@pytest.fixture
def family():
    parent = subprocess.Popen([sys.executable, "-c", FAMILY], stdout=subprocess.PIPE)
    parent.stdout.readline()
    pids = list(descendants(parent.pid, at_most=10))
    parent.process = Pidfd(parent.pid)
    yield parent
    parent.process.close()
    for pid in reversed(pids):
        subprocess.run(["kill", "-9", str(pid)], check=False, stderr=subprocess.DEVNULL)
    parent.wait()
    parent.stdout.close()


def watch(family, limits):
    watchdog = Watchdog(family.process, limits)
    deadline = time.monotonic() + 5
    while family.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    watchdog.stop()
    return watchdog.reason


def test_descendants_are_found_up_to_a_number(family):
    assert len(list(descendants(family.pid, at_most=10))) == 4
    assert len(list(descendants(family.pid, at_most=2))) == 2


def test_memory_is_counted(family):
    assert memory([family.pid], enough=1 << 40) > 64 << 20
    assert memory([family.pid], enough=0) > 64 << 20
    assert memory([1 << 22], enough=0) == 0


def test_too_many_processes_are_killed_with_a_reason(family):
    assert watch(family, Limits(processes=3)) == "it started more than 3 processes"
    assert family.returncode == -9


def test_too_much_memory_is_killed_with_a_reason(family):
    assert watch(family, Limits(memory=32 << 20)) == "it used more than 32 MiB of memory"
    assert family.returncode == -9


def test_what_keeps_within_its_limits_is_left_alone(family):
    watchdog = Watchdog(family.process, Limits())
    time.sleep(0.3)
    watchdog.stop()
    assert watchdog.reason is None
    assert family.poll() is None


def test_stranger_who_got_the_number_of_a_sandbox_that_has_ended_is_left_alone(family):
    with subprocess.Popen(["true"]) as ended:
        process = Pidfd(ended.pid)
    process.pid = family.pid
    watchdog = Watchdog(process, Limits(processes=1))
    watchdog.join(timeout=20)
    process.close()
    assert not watchdog.is_alive()
    assert watchdog.reason is None
    assert family.poll() is None
