"""The head's side of the workers, with small programs in their place."""

import os
import resource
import subprocess
import sys
import threading

import psutil
import pytest

from classroom.grading import pool
from classroom.grading.job import File, Job, Result
from classroom.grading.limits import Limits

PROGRAM = """
import os, signal, socket, sys, time
from pathlib import Path
from classroom.grading.sandbox import process, wire

channel = wire.Channel(socket.socket(fileno=int(sys.argv[1])))
prepared = []

def do(order):
    if order == "die":
        os._exit(1)
    if order == "sleep":
        time.sleep(60)
    if order.startswith("die once ") and not Path(order[9:]).exists():
        Path(order[9:]).touch()
        os._exit(1)
    if order.startswith("orphan once ") and not Path(order[12:]).exists():
        Path(order[12:]).touch()
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(60)
    known = {"pid": [str(os.getpid())], "prepared": prepared, "number": [str(number)]}
    if order == "fail":
        return {"failed": "told so"}
    return {"ran": [], "changed": known.get(order, [order]), "notes": []}

def work(given, parent):
    process.die_with_parent(parent)
    channel.close()
    theirs = wire.Channel(given)
    if prepared == ["deaf"]:
        time.sleep(60)
    while True:
        order = theirs.receive()[0]["setup"][0]
        if order == "babble":
            given.sendall(b"\\xff" * 20)
        else:
            theirs.send(do(order))

try:
    channel.receive()
    channel.send(START)
    if "deaf" in START:
        time.sleep(60)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while "failed" not in START:
        message, _, given = channel.receive_with_socket()
        number = message.get("number")
        if message["do"] == "prepare":
            prepared += message["job"]["setup"]
            channel.send({})
            continue
        parent = os.getpid()
        pid = os.fork()
        if pid == 0:
            work(given, parent)
        given.close()
        channel.send({"pid": pid})
except wire.Closed:
    pass
"""


@pytest.fixture
def workers(monkeypatch):
    """Makes pools whose workers run PROGRAM; gives the processes that were started."""
    started, pools = [], []
    popen = subprocess.Popen

    def start(command, **kwargs):
        make.started_by = threading.current_thread()
        program = PROGRAM.replace("START", repr(make.says))
        started.append(popen([sys.executable, "-c", program, *command[3:]], **kwargs))
        return started[-1]

    def make(size=1, **options):
        pools.append(pool.Pool(size, "bubblewrap", Limits(submission=0), seed=1, **options))
        return pools[-1]

    make.says = {"ready": True}
    make.started = started
    monkeypatch.setattr(pool.subprocess, "Popen", start)
    yield make
    for each in pools:
        each.close()


def job(order):
    return Job((), (order,))


def test_job_comes_back_with_its_result(workers):
    futures = [workers(2).submit(job(order)) for order in ("a", "b")]
    assert [f.result(20) for f in futures] == [Result({}, ("a",)), Result({}, ("b",))]


def test_first_job_is_prepared_for_all_workers(workers):
    for size in (1, 2):
        pool = workers(size)
        futures = [pool.submit(job("prepared")) for _ in range(4)]
        assert {f.result(20).changed for f in futures} == {("prepared",)}


def test_worker_that_reports_a_failure_goes_on(workers):
    one = workers()
    before = one.submit(job("pid")).result(20)
    with pytest.raises(pool.WorkerFailed, match="told so"):
        one.submit(job("fail")).result(20)
    assert one.submit(job("pid")).result(20) == before


def test_worker_that_dies_is_replaced_and_the_job_run_again(workers, tmp_path):
    order = f"die once {tmp_path / 'died'}"
    assert workers().submit(job(order)).result(20).changed == (order,)
    assert len(workers.started) == 1


def test_worker_that_follows_one_that_died_gets_its_number(workers):
    two = workers(2)
    for _ in range(6):
        dying = two.submit(job("die"))
        with pytest.raises(pool.WorkerFailed):
            dying.result(20)
    numbers = [two.submit(job("number")) for _ in range(2)]
    assert {f.result(20).changed for f in numbers} <= {("0",), ("1",)}


def test_job_that_kills_its_worker_twice_is_given_up(workers):
    one = workers()
    dying, next_one = one.submit(job("die")), one.submit(job("a"))
    with pytest.raises(pool.WorkerFailed, match="died twice"):
        dying.result(20)
    assert next_one.result(20).changed == ("a",)


def test_process_that_starts_the_workers_is_replaced(workers, tmp_path):
    order = f"orphan once {tmp_path / 'orphaned'}"
    assert workers().submit(job(order)).result(20).changed == (order,)
    assert len(workers.started) == 2


def test_worker_that_takes_too_long_is_ended(workers, monkeypatch):
    one = workers()
    with monkeypatch.context() as briefly:
        briefly.setattr(pool, "SECONDS_BESIDES", 0.3)
        with pytest.raises(pool.WorkerFailed, match="did not finish"):
            one.submit(job("sleep")).result(20)
    assert one.submit(job("a")).result(20).changed == ("a",)


def long_job():
    return Job((), ("deaf",), (File("long", bytes(8 << 20)),))


def test_worker_that_does_not_listen_is_ended(workers, monkeypatch):
    monkeypatch.setattr(pool, "SECONDS_BESIDES", 0.3)
    with pytest.raises(pool.WorkerFailed, match="did not finish"):
        workers().submit(long_job()).result(20)


def test_process_that_does_not_listen_is_ended(workers, monkeypatch):
    monkeypatch.setattr(pool, "START_SECONDS", 2)
    workers.says = {"deaf": True}
    with pytest.raises(pool.WorkerFailed, match="did not start"):
        workers().submit(Job((), ("#" * (8 << 20),))).result(20)


def test_worker_that_says_what_is_no_result_is_ended(workers):
    one = workers()
    with pytest.raises(pool.WorkerFailed, match="no result"):
        one.submit(job("babble")).result(20)
    assert one.submit(job("a")).result(20).changed == ("a",)


def test_worker_that_cannot_start_says_why(workers):
    workers.says = {"failed": "no sandbox"}
    one = workers()
    for _ in range(2):
        with pytest.raises(pool.WorkerFailed, match="no sandbox"):
            one.submit(job("a")).result(20)


def test_closed_pool_starts_nothing(workers):
    one = workers()
    one.close()
    before = len(workers.started)
    with pytest.raises(pool.WorkerFailed, match="ended"):
        one.submit(job("a")).result(20)
    assert len(workers.started) == before


@pytest.mark.parametrize("wait", [False, True])
def test_pool_starts_ahead_of_the_first_job_unless_it_is_to_wait(workers, monkeypatch, wait):
    asked = []
    start = pool.Forks.start
    monkeypatch.setattr(pool.Forks, "start", lambda forks: asked.append(forks) or start(forks))
    assert workers(wait=wait).submit(job("a")).result(20).changed == ("a",)
    assert len(asked) == (1 if wait else 2)


def test_workers_outlive_the_thread_that_made_the_pool(workers):
    workers().submit(job("a")).result(20)
    assert workers.started_by is not threading.current_thread()


def test_worker_is_ended_by_whichever_descriptor(workers, monkeypatch):
    high = resource.getrlimit(resource.RLIMIT_NOFILE)[0] - 1
    opened = os.pidfd_open

    def open_high(pid):
        descriptor = opened(pid)
        os.dup2(descriptor, high, inheritable=False)
        os.close(descriptor)
        return high

    monkeypatch.setattr(pool.os, "pidfd_open", open_high)
    one = workers()
    (pid,) = one.submit(job("pid")).result(20).changed
    one.close()
    assert not psutil.pid_exists(int(pid))


def test_worker_that_may_not_be_started_keeps_nobody_waiting(workers, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(pool.subprocess, "Popen", refuse)
    with pytest.raises(pool.WorkerFailed, match="Permission denied"):
        workers().submit(job("a")).result(20)


def test_closed_pool_leaves_no_process(workers):
    two = workers(2)
    pids = {two.submit(job("pid")).result(20).changed for _ in range(4)}
    two.submit(job("sleep"))
    two.close()
    pids = [process.pid for process in workers.started] + [int(pid) for (pid,) in pids]
    assert not any(psutil.pid_exists(pid) for pid in pids)


def test_descriptors_are_closed_again(workers):
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(2):
        one = workers()
        one.submit(job("a")).result(20)
        one.close()
    assert len(os.listdir("/proc/self/fd")) == before
