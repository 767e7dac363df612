import errno
import os
import struct

import pytest

from classroom.grading import seccomp

X86, ARM = "x86_64", "aarch64"


def run(program, number, architecture, argument=0):
    """What the filter does with a system call: an interpreter of the few steps it uses."""
    data = {
        seccomp.NUMBER: number,
        seccomp.ARCHITECTURE: architecture,
        seccomp.FIRST_ARGUMENT: argument,
    }
    steps = list(struct.iter_unpack("=HBBI", program))
    position, value = 0, 0
    while True:
        code, if_true, if_false, operand = steps[position]
        if code == seccomp.RETURN:
            return operand
        position += 1
        if code == seccomp.LOAD:
            value = data[operand]
        else:
            holds = value == operand if code == seccomp.EQUAL else value >= operand
            position += if_true if holds else if_false


@pytest.mark.parametrize(("machine", "which"), [(X86, 0), (ARM, 1)])
def test_listed_calls_are_refused_and_no_others(machine, which):
    program = seccomp.program(machine)
    own = seccomp.ARCHITECTURES[which]
    refused = {numbers[which] for numbers in seccomp.REFUSED.values()}
    found = {n for n in range(500) if run(program, n, own) == seccomp.REFUSE}
    assert found == refused
    assert run(program, 0, own) == seccomp.ALLOW


@pytest.mark.parametrize(("machine", "which"), [(X86, 0), (ARM, 1)])
def test_limits_are_changed_on_oneself_only(machine, which):
    program, own = seccomp.program(machine), seccomp.ARCHITECTURES[which]
    assert run(program, seccomp.PRLIMIT[which], own, argument=0) == seccomp.ALLOW
    assert run(program, seccomp.PRLIMIT[which], own, argument=1) == seccomp.REFUSE


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
