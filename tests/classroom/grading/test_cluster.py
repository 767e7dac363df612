"""Grading by the workers of a real dask scheduler, in processes of their own, over TLS."""

import os
import re
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest
from dask import config
from distributed import Security
from nbgrader.api import Gradebook

from classroom.grading import cluster
from classroom.grading.cluster import Cluster, Graders, NoCluster
from classroom.grading.limits import Limits

PAGE = Path(__file__).parents[3] / "docs" / "many-machines.md"
ORDERS = ("none", Limits(cell=5.0), 1)
WRONG = "def double(x):\n    return x"
SLOW = "import time\n\n\ndef double(x):\n    time.sleep(0.2)\n    return 2 * x"
CONFIG = "from classroom import configure\n\nc = get_config()\nconfigure(c)\n"


@pytest.fixture(scope="module")
def settings(tmp_path_factory):
    """The folder of dask's settings, as the page has them, with a certificate."""
    folder = tmp_path_factory.mktemp("dask")
    made = Security.temporary()
    (folder / "cert.pem").write_text(made.tls_ca_file)
    (folder / "key.pem").write_text(made.tls_client_key)
    [text] = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (folder / "distributed.yaml").write_text(re.sub(r"(\w+\.pem)", rf"{folder}/\1", text))
    return folder


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
def environment(settings):
    return os.environ | {"DASK_CONFIG": str(settings), "OMP_NUM_THREADS": "1"}


@pytest.fixture(scope="module")
def machines(environment, tmp_path_factory):
    machines = Machines(environment, tmp_path_factory.mktemp("machines"))
    yield machines
    machines.close()


@pytest.fixture(autouse=True)
def certified(settings):
    """This process, the head, has the certificate as well."""
    tls = config.collect([settings], env={})["distributed"]["comm"]["tls"]
    with config.set({f"distributed.comm.tls.{name}": value for name, value in tls.items()}):
        yield


def test_an_open_scheduler_is_refused():
    with pytest.raises(NoCluster, match="no tls:// address"):
        Cluster("tcp://127.0.0.1:8786", *ORDERS)


def test_nobody_at_the_address_is_said(monkeypatch):
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 1)
    with pytest.raises(NoCluster, match="No dask scheduler answers"):
        Cluster("tls://127.0.0.1:9", *ORDERS)


def test_no_certificate_is_said(machines):
    with config.set({"distributed.comm.tls.client": {"cert": None, "key": None}}):
        with pytest.raises(NoCluster, match="certificate"):
            Cluster(machines.address, *ORDERS)


def test_no_workers_is_said(monkeypatch, machines):
    monkeypatch.setattr(cluster, "WORKERS_SECONDS", 1)
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
    for _ in range(6000):
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
    wait_until(lambda: below(lost))
    before = graded()
    wait_until(lambda: graded() > before)
    orphans = below(lost)
    end(lost)

    assert second.wait(600) == 0, (course.root / "log").read_text()
    with Gradebook(course.directory.db_url) as book:
        points = {s.student_id: s.score for s in book.assignment_submissions("small")}
    assert points == expected
    gone, alive = psutil.wait_procs(orphans, timeout=300)
    assert gone
    assert not alive
    assert below(kept) == [], "neither command left a judge or a sandbox"
