"""`python -I -S renewal.py HOST BYTES FILES`: mounts a sandbox's folders anew, from outside.

Whatever a submission wrote on a file system, also beside the files (modes, times, labels, numbers
that were counted up), is gone when it gets another one. Does so for each line that it reads, and
answers with one: what went wrong, or nothing.

HOST is the sandbox's first process, which runs its program by the time of the first line; BYTES
and FILES are the most that each folder takes. From then on this is in the mount namespace of the
sandbox and in the user namespace that owns it, where it may mount; and in the process namespace of
the grader, where no submission sees it.
"""

import ctypes
import fcntl
import os
import sys

PLACES = (b"/scratch", b"/dev/shm")
DEVICES = (b"/dev/null", b"/dev/zero", b"/dev/full", b"/dev/random", b"/dev/urandom", b"/dev/tty")
TERMINALS = b"/dev/pts"
NS_GET_USERNS = 0xB701
CLONE_NEWNS, CLONE_NEWUSER = 0x00020000, 0x10000000
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT, MS_BIND = 1, 2, 4, 8, 32, 4096
MNT_DETACH = 2
libc = ctypes.CDLL(None, use_errno=True)


def main(host: int, size: int, files: int):
    is_inside = False
    for _ in sys.stdin:
        try:
            if not is_inside:
                enter(host)
                protect()
                is_inside = True
            renew(size, files)
        except OSError as error:
            print(error, flush=True)
        else:
            print(flush=True)


def enter(host: int):
    """Have this process mount for the process `host`. Raises OSError."""
    mounts = os.open(f"/proc/{host}/ns/mnt", os.O_RDONLY)
    _call(libc.setns, fcntl.ioctl(mounts, NS_GET_USERNS), CLONE_NEWUSER)
    _call(libc.setns, mounts, CLONE_NEWNS)


def protect():
    """Keep devices from being changed by whom they belong to; they can be used as ever."""
    how = MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID
    for device in DEVICES:
        _call(libc.mount, None, device, None, how, None)
    _call(libc.mount, None, TERMINALS, None, how | MS_NOEXEC, None)


def renew(size: int, files: int):
    """Put empty file systems in the place of those that are there."""
    options = f"mode=0755,size={size},nr_inodes={files}".encode()
    for place in PLACES:
        _call(libc.umount2, place, MNT_DETACH)
        _call(libc.mount, b"tmpfs", place, b"tmpfs", MS_NOSUID | MS_NODEV, options)


def _call(function, *arguments):
    if function(*arguments) < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{os.strerror(number)}: {function.__name__}{arguments}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
