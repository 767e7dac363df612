"""Grading by the workers of a real dask scheduler, in processes of their own, over TLS."""

import os
import subprocess
import sys
import time
from contextlib import ExitStack
from types import SimpleNamespace

import psutil
import pytest
from dask import config
from distributed import Security
from nbgrader.api import Gradebook

from classroom.grading import cluster
from classroom.grading.cluster import Cluster, Graders, NoCluster
from classroom.grading.limits import Limits

ORDERS = ("none", Limits(cell=5.0), 1)
WRONG = "def double(x):\n    return x"
SLOW = "import time\n\n\ndef double(x):\n    time.sleep(0.2)\n    return 2 * x"
CONFIG = "from classroom import configure\n\nc = get_config()\nconfigure(c)\n"


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    """Settings of dask: a certificate that scheduler, workers and head share."""
    folder = tmp_path_factory.mktemp("tls")
    made = Security.temporary()
    (folder / "ca.pem").write_text(made.tls_ca_file)
    (folder / "own.pem").write_text(made.tls_client_key + made.tls_client_cert)
    return {"distributed.comm.tls.ca-file": str(folder / "ca.pem")} | {
        f"distributed.comm.tls.{role}.{part}": str(folder / "own.pem")
        for role in ("scheduler", "worker", "client")
        for part in ("cert", "key")
    }


class Machines:
    """A scheduler and its workers. address: the scheduler's."""

    def __init__(self, environment, folder):
        self._environment = environment
        self._folder = folder
        self._stack = ExitStack()
        self.scheduler = self._start("scheduler", "--host", "tls://127.0.0.1", "--port", "0")
        self.address = self._said("scheduler", "Scheduler at:").split()[-1]

    def start_worker(self) -> subprocess.Popen:
        return self._start("worker", self.address, "--nthreads", "1", "--no-nanny")

    def close(self):
        self._stack.close()

    def _start(self, kind, *arguments):
        log = self._stack.enter_context((self._folder / f"{kind}.log").open("a"))
        command = [sys.executable, "-m", "dask", kind, *arguments, "--no-dashboard"]
        process = subprocess.Popen(command, env=self._environment, stderr=log, cwd=self._folder)
        self._stack.callback(end, process)
        return process

    def _said(self, kind, words):
        for _ in range(600):
            log = (self._folder / f"{kind}.log").read_text()
            found = [line for line in log.splitlines() if words in line]
            if found:
                return found[0]
            time.sleep(0.1)
        raise TimeoutError(log)


def end(process):
    process.kill()
    process.wait()


@pytest.fixture(scope="module")
def environment(certificates):
    names = {
        "DASK_" + name.upper().replace(".", "__").replace("-", "_"): file
        for name, file in certificates.items()
    }
    return os.environ | names | {"OMP_NUM_THREADS": "1"}


@pytest.fixture(scope="module")
def machines(environment, tmp_path_factory):
    machines = Machines(environment, tmp_path_factory.mktemp("machines"))
    yield machines
    machines.close()


@pytest.fixture(autouse=True)
def trusting(certificates):
    """This process, the head, knows the certificate as well."""
    with config.set(certificates):
        yield


def test_an_open_scheduler_is_refused():
    with pytest.raises(NoCluster, match="no tls:// address"):
        Cluster("tcp://127.0.0.1:8786", *ORDERS)


def test_nobody_at_the_address_is_said(monkeypatch):
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 1)
    with pytest.raises(NoCluster, match="No dask scheduler answers"):
        Cluster("tls://127.0.0.1:9", *ORDERS)


def test_no_certificate_is_said(certificates, machines):
    with config.set(dict.fromkeys(certificates)):
        with pytest.raises(NoCluster, match="certificate"):
            Cluster(machines.address, *ORDERS)


def test_no_workers_is_said(monkeypatch, machines):
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 1)
    with pytest.raises(NoCluster, match="has no workers: start `dask worker tls://127"):
        Cluster(machines.address, *ORDERS)


def test_other_code_is_refused():
    graders = Graders(*ORDERS)
    graders._code = "of last year"
    with pytest.raises(NoCluster, match="tls://there has another version of the course's code"):
        graders.setup(SimpleNamespace(address="tls://there"))


def autograde(course, environment):
    command = [sys.executable, "-m", "nbgrader", "autograde", "small"]
    with (course.root / "log").open("a") as log:
        return subprocess.Popen(command, cwd=course.root, env=environment, stderr=log)


def wait_until(condition):
    for _ in range(1200):
        if condition():
            return
        time.sleep(0.1)
    raise TimeoutError


def below(process):
    return psutil.Process(process.pid).children(recursive=True)


def test_a_killed_head_and_a_killed_worker_lose_nothing(course, machines, environment):
    (course.root / "nbgrader_config.py").write_text(
        f"{CONFIG}c.Grading.scheduler = {machines.address!r}\n"
    )
    expected = {}
    for number in range(10):
        right = number % 3 > 0
        course.hand_in(f"student{number}", SLOW if right else WRONG)
        expected[f"student{number}"] = 3 if right else 1

    def graded():
        return len(list(course.root.glob("autograded/*/small/small.ipynb")))

    lost, kept = machines.start_worker(), machines.start_worker()
    first = autograde(course, environment)
    wait_until(graded)
    end(first)
    second = autograde(course, environment)
    before = graded()
    wait_until(lambda: graded() > before)
    orphans = below(lost)
    end(lost)

    assert second.wait(300) == 0, (course.root / "log").read_text()
    with Gradebook(course.directory.db_url) as book:
        points = {s.student_id: s.score for s in book.assignment_submissions("small")}
    assert points == expected
    gone, alive = psutil.wait_procs(orphans, timeout=30)
    assert gone
    assert not alive
    assert below(kept) == [], "neither command left a judge or a sandbox"
