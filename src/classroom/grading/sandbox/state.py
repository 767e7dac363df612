"""What a submission could change about the host and leave behind for the next one."""

import _thread
import os
import resource
import threading
from pathlib import Path

LIMITS = [name for name in dir(resource) if name.startswith("RLIMIT_")]
IPC = Path("/proc/sysvipc")


def snapshot() -> dict:
    """The host's limits, priority, affinity, and the kernel's objects that outlive processes."""
    return {
        "limits": [resource.getrlimit(getattr(resource, name)) for name in LIMITS],
        "priority": os.getpriority(os.PRIO_PROCESS, 0),
        "scheduling": (os.sched_getscheduler(0), os.sched_getparam(0).sched_priority),
        "affinity": sorted(os.sched_getaffinity(0)),
        "threads": len(os.listdir("/proc/self/task")),
        "descriptors": len(os.listdir("/proc/self/fd")),
        "shared memory, semaphores, messages": [
            (IPC / kind).read_text() for kind in ("shm", "sem", "msg")
        ],
    }


def next_number() -> int:
    """The number of the next process or thread of the sandbox; it is used up."""
    found = []
    thread = threading.Thread(target=lambda: found.append(threading.get_native_id()))
    thread.start()
    thread.join()
    return found[0]


def use_up(numbers: int):
    """Use up so many numbers at once, and wait for nobody but the last."""
    for _ in range(numbers - 1):
        _thread.start_new_thread(int, ())
    if numbers > 0:
        next_number()


def differences(before: dict, after: dict) -> list[str]:
    """Names of what is no longer as it was."""
    return [name for name in before if before[name] != after[name]]
