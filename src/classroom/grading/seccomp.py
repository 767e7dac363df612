"""System calls that no submission needs and some could misuse, refused by the kernel with EPERM.

Among them are those that reach from one process of a sandbox to another, to the host above all, and
those that make what outlives a process or counts as nobody's memory.
"""

import errno
import os
import platform
import struct

# Name: (number on x86-64, number on 64-bit ARM).
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
    # namespaces and mounts
    "unshare": (272, 97), "setns": (308, 268), "mount": (165, 40), "umount2": (166, 39),
    "pivot_root": (155, 41), "open_tree": (428, 428), "move_mount": (429, 429),
    "fsopen": (430, 430), "mount_setattr": (442, 442),
    # large and seldom needed parts of the kernel
    "bpf": (321, 280), "io_uring_setup": (425, 425), "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
}  # fmt: skip
PRLIMIT = (302, 261)  # on itself it is setrlimit; on others it is refused

MACHINES = {"x86_64": 0, "aarch64": 1}
ARCHITECTURES = (0xC000003E, 0xC00000B7)  # AUDIT_ARCH_X86_64, AUDIT_ARCH_AARCH64
FOREIGN_CALLS = 0x40000000  # from here on: calls of another ABI, by other numbers

LOAD, EQUAL, AT_LEAST, RETURN = 0x20, 0x15, 0x35, 0x06
NUMBER, ARCHITECTURE, FIRST_ARGUMENT = 0, 4, 16  # offsets in struct seccomp_data
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
        steps += [_step(EQUAL, numbers[which], skip_unless=1), _step(RETURN, REFUSE)]
    steps += [
        _step(EQUAL, PRLIMIT[which], skip_unless=3),
        _step(LOAD, FIRST_ARGUMENT),
        _step(EQUAL, 0, skip_if=1),
        _step(RETURN, REFUSE),
        _step(RETURN, ALLOW),
    ]
    return b"".join(steps)


def _step(code, value, *, skip_if=0, skip_unless=0):
    return struct.pack("=HBBI", code, skip_if, skip_unless, value)
