"""What a process does to itself, done in forks and small programs."""

import mmap
import os
import random
import subprocess
import sys

import numpy
import psutil
import pytest
import torch

from classroom.grading.sandbox import process


def test_process_dies_with_its_parent():
    program = (
        "import os, time\nfrom classroom.grading.sandbox import process\n"
        "parent = os.getpid()\nread, write = os.pipe()\n"
        "if os.fork() == 0:\n"
        "    process.die_with_parent(parent)\n    os.write(write, b'1')\n    time.sleep(60)\n"
        "os.read(read, 1)\n"
        "print(open(f'/proc/self/task/{parent}/children').read(), flush=True)\ntime.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as parent:
        child = psutil.Process(int(parent.stdout.readline()))
        parent.kill()
    child.wait(timeout=10)


def test_process_whose_parent_is_gone_ends_at_once(in_fork):
    def action():
        with pytest.raises(SystemExit, match="gone"):
            process.die_with_parent(os.getpid())

    assert in_fork(action) == 0


def test_silent_process_writes_nowhere(in_fork, capfd):
    def action():
        process.silence()
        os.write(1, b"out")
        os.write(2, b"err")
        return len(os.read(0, 1))

    assert in_fork(action) == 0
    assert capfd.readouterr() == ("", "")


def test_random_numbers_are_new():
    def seeded():
        random.seed(1)
        numpy.random.seed(1)
        torch.manual_seed(1)

    def drawn():
        return random.random(), numpy.random.rand(), torch.rand(()).item()

    states = random.getstate(), numpy.random.get_state(), torch.get_rng_state()
    seeded()
    first = drawn()
    seeded()
    process.reseed()
    second = drawn()
    random.setstate(states[0])
    numpy.random.set_state(states[1])
    torch.set_rng_state(states[2])
    assert all(a != b for a, b in zip(first, second, strict=True))


def test_gathered_memory_keeps_what_it_holds():
    size = 4 * process.LARGE_PAGE
    with mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
        content = random.Random(1).randbytes(size)
        memory[:] = content
        process.gather_memory()
        assert memory[:] == content


def test_own_memory_is_found_and_that_of_files_is_not():
    array = numpy.ones(1 << 20)
    address = array.ctypes.data
    bounds = list(process._own_memory())
    assert any(start <= address < end for start, end in bounds)
    assert all(start < end for start, end in bounds)
    maps = psutil.Process().memory_maps(grouped=False)
    mapped = [int(m.addr.split("-")[0], 16) for m in maps if m.path.endswith(".so.6")]
    assert not any(start <= address < end for address in mapped for start, end in bounds)
