import errno
import os
import struct

import pytest

from classroom.grading import seccomp

X86, ARM = "x86_64", "aarch64"


def run(program, number, architecture, arguments=()):
    """What the filter does with a system call: an interpreter of the few steps it uses."""
    data = {seccomp.NUMBER: number, seccomp.ARCHITECTURE: architecture}
    data |= {seccomp.ARGUMENTS + 8 * i: 0 for i in range(6)}
    data |= {seccomp.ARGUMENTS + 8 * i: argument for i, argument in enumerate(arguments)}
    steps = list(struct.iter_unpack("=HBBI", program))
    position, value = 0, 0
    while True:
        code, if_true, if_false, operand = steps[position]
        if code == seccomp.RETURN:
            return operand
        position += 1
        if code == seccomp.LOAD:
            value = data[operand]
        elif code == seccomp.AND:
            value &= operand
        else:
            holds = value == operand if code == seccomp.EQUAL else value >= operand
            position += if_true if holds else if_false


@pytest.mark.parametrize(("machine", "which"), [(X86, 0), (ARM, 1)])
def test_listed_calls_are_refused_and_no_others(machine, which):
    program = seccomp.program(machine)
    own = seccomp.ARCHITECTURES[which]
    refused = {numbers[which] for numbers in seccomp.REFUSED.values()} - {None}
    only_unix = {numbers[which] for numbers in ((41, 198), (53, 199))}
    found = {n for n in range(500) if run(program, n, own) == seccomp.REFUSE}
    assert found == refused | only_unix
    assert run(program, 500, own) == seccomp.ALLOW


@pytest.mark.parametrize(
    ("numbers", "arguments", "allowed"),
    [
        ((302, 261), (0,), True),  # prlimit: of oneself
        ((302, 261), (1,), False),
        ((41, 198), (1,), True),  # socket: AF_UNIX
        ((41, 198), (2,), False),  # AF_INET
        ((53, 199), (1,), True),  # socketpair
        ((53, 199), (30,), False),
        ((54, 208), (5, 1, 2), True),  # setsockopt: SO_REUSEADDR
        ((54, 208), (5, 1, 7), False),  # SO_SNDBUF
        ((54, 208), (5, 1, 8), False),
        ((54, 208), (5, 2, 7), True),  # of another level
        ((9, 222), (0, 1, 3, 0x22), True),  # mmap: private and anonymous
        ((9, 222), (0, 1, 3, 0x01), True),  # of a file
        ((9, 222), (0, 1, 3, 0x21), False),
        ((9, 222), (0, 1, 3, 0x4021), False),
        ((72, 25), (3, 1), True),  # fcntl: F_GETFD
        ((72, 25), (3, 1024), False),
        ((72, 25), (3, 1026), False),
    ],
)
@pytest.mark.parametrize(("machine", "which"), [(X86, 0), (ARM, 1)])
def test_some_calls_are_refused_by_their_arguments(machine, which, numbers, arguments, allowed):
    program, own = seccomp.program(machine), seccomp.ARCHITECTURES[which]
    expected = seccomp.ALLOW if allowed else seccomp.REFUSE
    assert run(program, numbers[which], own, arguments) == expected


def test_calls_of_another_architecture_kill_and_of_another_abi_are_refused():
    program = seccomp.program(X86)
    assert run(program, 1, seccomp.ARCHITECTURES[1]) == seccomp.KILL
    assert run(program, seccomp.FOREIGN_CALLS + 1, seccomp.ARCHITECTURES[0]) == seccomp.REFUSE


def test_refused_means_not_permitted():
    assert seccomp.REFUSE & 0xFFFF == errno.EPERM


def test_no_table_no_filter():
    with pytest.raises(seccomp.UnknownMachine, match="s390x"):
        seccomp.program("s390x")


def test_filter_is_read_from_a_descriptor():
    with open(seccomp.open_filter(), "rb") as file:
        assert file.read() == seccomp.program(os.uname().machine)
