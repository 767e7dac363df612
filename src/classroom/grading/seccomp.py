"""System calls that no submission needs and some could misuse, refused by the kernel with EPERM.

Among them are those that reach from one process of a sandbox to another, to the host above all, and
those that make what outlives a process or counts as nobody's memory. Some are refused only with
some arguments: there are the sockets of one machine, which `multiprocessing` needs, and no others.
"""

import errno
import os
import platform
import struct
from typing import NamedTuple

# Name: (number on x86-64, number on 64-bit ARM, or None where it has no such call).
REFUSED = {
    # one process changing or reading another
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "pidfd_getfd": (438, 438), "kcmp": (312, 272),
    "setpriority": (141, 140), "ioprio_set": (251, 30), "sched_setparam": (142, 118),
    "sched_setscheduler": (144, 119), "sched_setattr": (314, 274), "sched_setaffinity": (203, 122),
    # what outlives its process, or is charged to none
    "shmget": (29, 194), "semget": (64, 190), "msgget": (68, 186), "mq_open": (240, 180),
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
    "memfd_create": (319, 279), "memfd_secret": (447, 447),
    "vmsplice": (278, 75), "io_setup": (206, 0),
    "setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7), "setxattrat": (463, 463),
    "removexattr": (197, 14), "lremovexattr": (198, 15), "fremovexattr": (199, 16),
    "removexattrat": (466, 466), "file_setattr": (469, 469),
    # what tells of others, or of the machine
    "inotify_init": (253, None), "inotify_init1": (294, 26), "fanotify_init": (300, 262),
    "syslog": (103, 116), "mincore": (27, 232), "cachestat": (451, 451),
    # namespaces and mounts
    "unshare": (272, 97), "setns": (308, 268), "mount": (165, 40), "umount2": (166, 39),
    "pivot_root": (155, 41), "open_tree": (428, 428), "move_mount": (429, 429),
    "fsopen": (430, 430), "fspick": (433, 433), "mount_setattr": (442, 442),
    "open_tree_attr": (467, 467),
    # large and seldom needed parts of the kernel
    "bpf": (321, 280), "io_uring_setup": (425, 425), "perf_event_open": (298, 241),
    "userfaultfd": (323, 282), "modify_ldt": (154, None),
}  # fmt: skip


class Test(NamedTuple):
    """About an argument of a call, by its position: whether its bits in `mask` are `value`."""

    argument: int
    value: int
    mask: int = 0xFFFFFFFF
    holds: bool = True


AF_UNIX, SOL_SOCKET, SO_SNDBUF, SO_RCVBUF = 1, 1, 7, 8
SHARED_AND_ANONYMOUS = 0x21
F_SETLEASE, F_NOTIFY = 1024, 1026
# A call by its numbers, and what must be so of its arguments for it to be refused.
REFUSED_IF = (
    ((302, 261), (Test(0, 0, holds=False),)),  # prlimit of another process
    ((41, 198), (Test(0, AF_UNIX, holds=False),)),  # socket: what a network remembers, outlives
    ((53, 199), (Test(0, AF_UNIX, holds=False),)),  # socketpair
    # setsockopt: what is in a socket is nobody's memory, so it stays as small as it is by default
    ((54, 208), (Test(1, SOL_SOCKET), Test(2, SO_SNDBUF))),
    ((54, 208), (Test(1, SOL_SOCKET), Test(2, SO_RCVBUF))),
    # mmap: pages that are shared and of no file are nobody's as soon as nobody looks at them
    ((9, 222), (Test(3, SHARED_AND_ANONYMOUS, mask=SHARED_AND_ANONYMOUS),)),
    ((72, 25), (Test(1, F_SETLEASE),)),  # fcntl: others would wait for a file of theirs
    ((72, 25), (Test(1, F_NOTIFY),)),
)

MACHINES = {"x86_64": 0, "aarch64": 1}
ARCHITECTURES = (0xC000003E, 0xC00000B7)  # AUDIT_ARCH_X86_64, AUDIT_ARCH_AARCH64
FOREIGN_CALLS = 0x40000000  # from here on: calls of another ABI, by other numbers

LOAD, AND, EQUAL, AT_LEAST, RETURN = 0x20, 0x54, 0x15, 0x35, 0x06
NUMBER, ARCHITECTURE, ARGUMENTS = 0, 4, 16  # offsets in struct seccomp_data
ALLOW, KILL, REFUSE = 0x7FFF0000, 0x80000000, 0x00050000 | errno.EPERM


class UnknownMachine(Exception):
    """There is no table of system calls for this kind of machine."""


def open_filter() -> int:
    """A file descriptor to read the filter for this machine from. Raises UnknownMachine."""
    read, write = os.pipe()
    with open(write, "wb") as pipe:
        pipe.write(program(platform.machine()))
    return read


def program(machine: str) -> bytes:
    """The filter in the kernel's classic BPF."""
    if machine not in MACHINES:
        raise UnknownMachine(f"sandboxes run on {' and '.join(MACHINES)}, this is {machine}")
    which = MACHINES[machine]
    steps = [
        _step(LOAD, ARCHITECTURE),
        _step(EQUAL, ARCHITECTURES[which], skip_if=1),
        _step(RETURN, KILL),
        _step(LOAD, NUMBER),
        _step(AT_LEAST, FOREIGN_CALLS, skip_unless=1),
        _step(RETURN, REFUSE),
    ]
    for numbers in REFUSED.values():
        if numbers[which] is not None:
            steps += [_step(EQUAL, numbers[which], skip_unless=1), _step(RETURN, REFUSE)]
    for numbers, tests in REFUSED_IF:
        steps += _refuse_if(numbers[which], tests)
    return b"".join([*steps, _step(RETURN, ALLOW)])


def _refuse_if(number, tests):
    """Steps that begin and, unless they refuse, end with the call's number loaded."""
    steps = [_step(RETURN, REFUSE)]
    for test in reversed(tests):
        skip = {"skip_unless" if test.holds else "skip_if": len(steps)}
        load = _step(LOAD, ARGUMENTS + 8 * test.argument), _step(AND, test.mask)
        steps = [*load, _step(EQUAL, test.value, **skip), *steps]
    return [_step(EQUAL, number, skip_unless=len(steps) + 1), *steps, _step(LOAD, NUMBER)]


def _step(code, value, *, skip_if=0, skip_unless=0):
    return struct.pack("=HBBI", code, skip_if, skip_unless, value)
