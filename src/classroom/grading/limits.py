"""How much a submission may use, and what it may not see."""

from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Limits:
    """Bounds on one submission; sizes in bytes, times in seconds.

    cell: time for one cell, the learner's or a graded one, before it is interrupted.
    submission: time for all of them, however often they are run.
    grace: time for an interrupted cell to stop before its process is killed.
    memory: of all processes of the sandbox together, shared pages counted once.
    processes, threads, sockets: of the sandbox; what is in a socket is nobody's memory.
    descriptors: of one process. file: of one file. scratch, files: of what lies in each folder, how
    much and how many. output: of what one cell shows.
    hidden: files and folders of the machine that it does not see, wherever they lie.
    """

    cell: float = 30.0
    submission: float = 600.0
    grace: float = 2.0
    memory: int = 2 << 30
    processes: int = 64
    threads: int = 256
    descriptors: int = 256
    sockets: int = 128
    file: int = 64 << 20
    scratch: int = 256 << 20
    files: int = 20_000
    output: int = 2 << 20
    hidden: tuple[str, ...] = ()

    def as_dict(self) -> dict:
        return asdict(self)
