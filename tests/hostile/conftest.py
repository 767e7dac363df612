import os
import socket
import threading
from dataclasses import dataclass, field, replace

import pytest
import torch
from submissions import SOLUTIONS, WRONG, notebook, points

from attention_lab import check
from classroom.grading.judge import Judge
from classroom.grading.limits import Limits
from classroom.grading.sandbox.shell import Shell
from classroom.grading.worker import Worker

LIMITS = Limits(grace=1.0, memory=1 << 30, scratch=64 << 20, file=48 << 20)


@pytest.fixture(scope="module")
def worker():
    """One worker for a whole file: what one submission leaves, the next would meet."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    worker = Worker("bubblewrap", LIMITS, Judge(1, LIMITS.output))
    yield worker
    worker.close()
    Shell.clear_instance()
    check.use_seed(None)
    torch.set_num_threads(threads)


@pytest.fixture
def grade_briefly(worker):
    """Grades a job with little time for each cell, for one that would take all there is; `grace`
    is what it has to stop when it is interrupted."""

    def limit(limits):
        worker.limits = limits
        if worker.confinement is not None:
            worker.confinement.limits = limits

    def grade(job, cell=2.0, grace=LIMITS.grace, submission=LIMITS.submission):
        limit(replace(LIMITS, cell=cell, grace=grace, submission=submission))
        try:
            return worker.grade(job)
        finally:
            limit(LIMITS)

    return grade


@pytest.fixture(scope="module")
def baseline(worker):
    """What the wrong answers earn by themselves."""
    job = notebook(WRONG)
    return points(job, worker.grade(job))


@dataclass
class Outside:
    """What a submission must neither reach nor change."""

    port: int
    canary: str
    socket: str
    connections: list = field(default_factory=list)

    def fill_in(self, code: str) -> str:
        places = {
            "{host}": "127.0.0.1",
            "{port}": str(self.port),
            "{canary}": self.canary,
            "{socket}": self.socket,
        }
        for name, place in places.items():
            code = code.replace(name, place)
        return code

    def untouched(self) -> bool:
        with open(self.canary, encoding="utf-8") as canary:
            return canary.read() == "CANARY" and not self.connections


@pytest.fixture(scope="module")
def outside(tmp_path_factory, worker):
    canary = tmp_path_factory.mktemp("course") / "gradebook-canary.db"
    canary.write_text("CANARY", encoding="utf-8")
    os.environ["CANARY"] = "CANARY"
    with socket.create_server(("127.0.0.1", 0)) as loopback, socket.socket(socket.AF_UNIX) as other:
        name = f"grading-canary-{os.getpid()}"
        other.bind(f"\0{name}")
        other.listen()
        outside = Outside(loopback.getsockname()[1], str(canary), name)
        for server in (loopback, other):
            threading.Thread(target=_accept, args=(server, outside), daemon=True).start()
        yield outside
    del os.environ["CANARY"]


def _accept(server, outside):
    while True:
        try:
            outside.connections.append(server.accept())
        except OSError:
            return


@pytest.fixture(scope="session")
def honest():
    return notebook(SOLUTIONS)
