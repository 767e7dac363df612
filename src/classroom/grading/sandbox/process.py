"""What a process does to itself: where it writes, when it dies, which random numbers it draws."""

import ctypes
import os
import random
import signal
import sys

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
_libc = ctypes.CDLL(None)


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
    torch.seed()
