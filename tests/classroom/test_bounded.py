import ctypes
import os
import re
import time

import pytest

from classroom import bounded
from classroom.bounded import Bounds, Failed, run

SMALL = Bounds(seconds=1, memory=64 << 20)


def test_gives_back_plain_data():
    assert run(lambda *words: {"words": [*words]}, "a", "\ud800") == {"words": ["a", "\ud800"]}


def test_changes_nothing_here():
    here = []
    run(lambda: here.append(os.getpid()))
    assert here == []


def spin():
    while True:
        pass


def quadratic():
    re.fullmatch(r"(a*)*b", "a" * 40)


def nested():
    value = []
    for _ in range(20_000):
        value = [value]
    return value


FAILURES = {
    "a loop": (spin, "takes more than 1 s"),
    "a loop in C": (quadratic, "takes more than 1 s"),
    "no processor time": (lambda: time.sleep(60), "takes more than 1 s"),
    "memory": (lambda: len(bytearray(1 << 30)), "takes more than 64 MiB of memory"),
    "recursion": (lambda: (f := lambda n: f(n + 1))(0), "is nested too deeply"),
    "a deep answer": (nested, "is nested too deeply"),
    "no stack": (lambda: ctypes.string_at(0), "is nested too deeply"),
    "an abort": (os.abort, "takes more than 64 MiB of memory"),
    "an exit": (lambda: os._exit(0), "ends the process that reads it"),
    "an interrupt": (lambda: exec("raise KeyboardInterrupt"), "ends the process that reads it"),
    "an error": (lambda: 1 / 0, "cannot be read (ZeroDivisionError: division by zero)"),
    "no plain data": (lambda: {1, 2}, "cannot be read (TypeError: "),
}


@pytest.mark.parametrize(("function", "reason"), FAILURES.values(), ids=FAILURES)
def test_every_failure_is_one_error_in_words(function, reason, capfd):
    with pytest.raises(Failed) as failed:
        run(function, bounds=SMALL)
    assert str(failed.value).startswith(reason)
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)
    assert capfd.readouterr().err == ""


def test_a_long_reason_is_cut():
    def fail():
        raise ValueError("x" * 10**6)

    with pytest.raises(Failed) as failed:
        run(fail)
    assert len(str(failed.value)) == bounded.LONGEST_REASON


def test_leaves_no_descriptor_open():
    before = os.listdir("/proc/self/fd")
    run(lambda: None)
    assert os.listdir("/proc/self/fd") == before
