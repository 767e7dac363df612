import socket
import subprocess
import sys
import time
from contextlib import ExitStack

import pytest

from classroom.grading.limits import Limits
from classroom.grading.pidfd import Pidfd
from classroom.grading.watchdog import Watchdog, descendants, memory, sockets, threads

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


@pytest.fixture
def without_network():
    """Starts a process that has a network to itself, and there two sockets and as many more, which
    no process holds, since they are on their way to one."""
    program = (
        "import array, socket, sys, time\na, b = socket.socketpair()\n"
        "for _ in range(int(sys.argv[1])):\n    c = socket.socket()\n"
        "    socket.send_fds(a, [b'x'], [c.fileno()])\n    c.close()\n"
        "print('ready', flush=True)\ntime.sleep(60)"
    )
    command = ["bwrap", "--unshare-net", "--dev-bind", "/", "/", "--die-with-parent"]
    command += ["--as-pid-1", "--unshare-pid", sys.executable, "-c", program]
    with ExitStack() as started:

        def start(on_their_way):
            outer = started.enter_context(
                subprocess.Popen([*command, str(on_their_way)], stdout=subprocess.PIPE)
            )
            outer.stdout.readline()
            _, inner = descendants(outer.pid, at_most=3)
            process = Pidfd(inner)
            started.callback(process.end, seconds=20)
            return process

        yield start


def watch(family, limits):
    watchdog = Watchdog(family.process, limits)
    family.wait()
    watchdog.stop()
    return watchdog.reason


def test_descendants_are_found_up_to_a_number(family):
    assert len(list(descendants(family.pid, at_most=10))) == 4
    assert len(list(descendants(family.pid, at_most=2))) == 2


def test_memory_is_counted(family):
    assert memory([family.pid], enough=1 << 40) > 64 << 20
    assert memory([family.pid], enough=0) > 64 << 20
    assert memory([1 << 22], enough=0) == 0


def test_threads_are_counted(family):
    assert threads([family.pid, family.pid]) == 2
    assert threads([1 << 22]) == 0


# Under a name that is no text in any encoding.
SPARSE = """
import ctypes, mmap, sys
ctypes.CDLL(None).prctl(15, b"\\xff\\nVmRSS:")
memory = mmap.mmap(-1, 32 << 30, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, mmap.PROT_READ)
sum(memory[place] for place in range(0, len(memory), 2 << 20))
print("ready", flush=True)
sys.stdin.read()
"""


def test_tables_of_pages_are_counted_too():
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", SPARSE], **pipes) as process:
        process.stdout.readline()
        assert 64 << 20 < memory([process.pid], enough=1 << 40) < 128 << 20
        assert 64 << 20 < memory([process.pid], enough=0) < 128 << 20
        process.stdin.close()


def test_sockets_are_counted_wherever_they_are(without_network):
    few, more = sockets(without_network(0).pid), sockets(without_network(5).pid)
    assert few >= 2  # those of the network itself are the kernel's affair
    assert more - few == 5
    assert sockets(1 << 22) == 0


def test_sockets_of_a_network_that_others_use_are_not_counted(family):
    with socket.socket():
        assert sockets(family.pid) == 0


def test_too_many_sockets_are_killed_with_a_reason(without_network):
    process = without_network(3)
    watchdog = Watchdog(process, Limits(sockets=4))
    assert process.has_ended(seconds=20)
    watchdog.join()
    assert watchdog.reason == "it opened more than 4 sockets"


def test_too_many_processes_are_killed_with_a_reason(family):
    assert watch(family, Limits(processes=3)) == "it started more than 3 processes"
    assert family.returncode == -9


def test_too_many_threads_are_killed_with_a_reason():
    program = (
        "import threading, time\nfor _ in range(9):"
        " threading.Thread(target=time.sleep, args=(60,)).start()"
    )
    with subprocess.Popen([sys.executable, "-c", program]) as threaded:
        process = Pidfd(threaded.pid)
        watchdog = Watchdog(process, Limits(threads=9))
        assert process.has_ended(seconds=20)
        watchdog.stop()
        process.close()
    assert watchdog.reason == "it started more than 9 threads"


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
