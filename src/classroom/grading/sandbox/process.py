"""What a process does to itself: where it writes, when it dies, which random numbers it draws."""

import ctypes
import os
import random
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

LARGE_PAGE = 2 << 20
MADV_COLLAPSE = 25
PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
_libc = ctypes.CDLL(None)
_libc.madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)


def die_with_parent(parent: int):
    """Have the kernel kill this process when `parent` ends, however that happens."""
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        sys.exit("the parent process is gone already")


def close_to_children():
    """Keep processes of the same user from reading, tracing or taking files from this one."""
    _libc.prctl(PR_SET_DUMPABLE, 0)


def silence():
    """Point standard input, output and error at nothing, through descriptions of their own."""
    for descriptor in (0, 1, 2):
        nothing = os.open(os.devnull, os.O_RDWR)
        if nothing != descriptor:
            os.dup2(nothing, descriptor)
            os.close(nothing)


def reseed():
    """Draw new random numbers; a fork would repeat its parent's."""
    import numpy
    import torch

    random.seed()
    numpy.random.seed()
    torch.default_generator.seed()  # `torch.seed` asks every kind of device


def gather_memory():
    """Move this process's memory into large pages: a fork then takes a third of the time, since it
    copies a list of the pages. A kernel that cannot do so (before 6.1) leaves all as it is."""
    for start, end in _own_memory():
        start, end = -(-start // LARGE_PAGE) * LARGE_PAGE, end // LARGE_PAGE * LARGE_PAGE
        if start < end:
            _libc.madvise(start, end - start, MADV_COLLAPSE)


def _own_memory() -> Iterator[tuple[int, int]]:
    """Yield the bounds of the heap and of what else is mapped from no file and may be written."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        addresses, permissions, _, _, _, *name = line.split()
        if permissions == "rw-p" and name in ([], ["[heap]"]):
            start, end = addresses.split("-")
            yield int(start, 16), int(end, 16)
