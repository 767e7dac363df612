"""Workers on other machines, reached through a dask scheduler.

Every dask worker gets a `Pool` of its own, with a sandbox and a judge for each of its threads. Only
jobs and results travel, over TLS; the gradebook and the files stay with the head.
"""

import hashlib
import platform
from concurrent.futures import Future
from contextlib import suppress
from importlib import metadata
from pathlib import Path

from distributed import Client, Security, WorkerPlugin, get_worker

from classroom.grading import bubblewrap
from classroom.grading.job import Job, Result
from classroom.grading.limits import Limits
from classroom.grading.pool import TRIES, Pool

CONNECT_SECONDS = 30
WORKERS_SECONDS = 30
PREFIX = "grading-of-"


class NoCluster(Exception):
    """There is no cluster to grade on; the message says what to do."""


class Cluster:
    """Grades jobs on the workers of the scheduler at `address`, as a `Pool` does on this machine.

    size: how many jobs it can run at the same time, by the workers that are there at the start.
    Others may come and go: the jobs of one that is lost are given to the rest.

    Raises NoCluster, also where a worker has other code, or no sandbox.
    """

    def __init__(self, address: str, isolation: str, limits: Limits, seed: int):
        self._client = _connect(address)
        try:
            self.size = sum(self._client.nthreads().values())
            self._release_the_abandoned()
            self._name = f"{PREFIX}{self._client.id}"
            self._client.register_plugin(Graders(isolation, limits, seed), self._name)
        except Exception as error:
            self._client.close()
            raise NoCluster(f"The cluster cannot grade: {error}") from error
        self._jobs = self._client.get_executor(pure=False, retries=TRIES - 1)

    def submit(self, job: Job) -> Future:
        return self._jobs.submit(grade, self._name, job)

    def close(self):
        with suppress(OSError, RuntimeError):  # the scheduler may have gone before
            self._jobs.shutdown(wait=False)
            self._client.unregister_worker_plugin(self._name)
        self._client.close()

    def _release_the_abandoned(self):
        """End the pools of commands that were killed before they could do it."""
        for name in self._client.run_on_scheduler(abandoned):
            self._client.unregister_worker_plugin(name)


class Graders(WorkerPlugin):
    """What a dask worker needs in order to grade for one command."""

    def __init__(self, isolation: str, limits: Limits, seed: int):
        self._orders = (isolation, limits, seed)
        self._code = code()

    def setup(self, worker):
        if self._code != code():
            raise NoCluster(f"{worker.address} has another version of the course's code or torch.")
        isolation, *_ = self._orders
        if isolation != "none":
            bubblewrap.require()
        self.pool = Pool(worker.state.nthreads, *self._orders)

    def teardown(self, worker):
        self.pool.close()


def grade(name: str, job: Job) -> Result:
    """Run `job` on the dask worker that this is called on, for the command called `name`."""
    return get_worker().plugins[name].pool.submit(job).result()


def abandoned(dask_scheduler) -> list[str]:
    """The names of the plugins whose command is no longer connected."""
    return [
        name
        for name in dask_scheduler.worker_plugins
        if name.startswith(PREFIX) and name.removeprefix(PREFIX) not in dask_scheduler.clients
    ]


def code() -> str:
    """A digest of all that a verdict depends on besides the job."""
    digest = hashlib.sha256(f"{platform.python_version()} {metadata.version('torch')}".encode())
    sources = Path(__file__).parents[2]
    for package in ("attention_lab", "classroom"):
        for path in sorted((sources / package).rglob("*.py")):
            digest.update(path.relative_to(sources).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()


def _connect(address):
    if not address.startswith("tls://"):
        raise NoCluster(
            f"{address} is no tls:// address. A scheduler without TLS runs the code of whoever "
            "reaches it: start it with --protocol tls and certificates of your own."
        )
    security = Security(require_encryption=True)
    if security.get_connection_args("client")["ssl_context"] is None:
        raise NoCluster(
            "This machine has no certificate to show to the scheduler: name the files in "
            "~/.config/dask/distributed.yaml, under distributed: comm: tls."
        )
    try:
        client = Client(address, security=security, timeout=CONNECT_SECONDS, set_as_default=False)
    except OSError as error:
        raise NoCluster(f"No dask scheduler answers at {address}: {error}") from error
    try:
        client.wait_for_workers(1, timeout=WORKERS_SECONDS)
    except TimeoutError:
        client.close()
        raise NoCluster(
            f"The scheduler at {address} has no workers: start `dask worker {address}` on the "
            "machines that shall grade."
        ) from None
    return client
