"""The head's side of the workers, with small programs in their place."""

import subprocess
import sys

import psutil
import pytest

from classroom.grading import pool
from classroom.grading.job import Job, Result
from classroom.grading.limits import Limits

PROGRAM = """
import os, socket, sys, time
from pathlib import Path
from classroom.grading.sandbox import wire

def do(order):
    if order == "die":
        os._exit(1)
    if order == "sleep":
        time.sleep(60)
    if order.startswith("die once ") and not Path(order[9:]).exists():
        Path(order[9:]).touch()
        os._exit(1)
    return {"failed": "told so"} if order == "fail" else {"ran": [], "changed": [order]}

channel = wire.Channel(socket.socket(fileno=int(sys.argv[1])))
try:
    channel.receive()
    channel.send(START)
    while "failed" not in START:
        channel.send(do(channel.receive()[0]["setup"][0]))
except wire.Closed:
    pass
"""


@pytest.fixture
def workers(monkeypatch):
    """Makes pools whose workers run PROGRAM; gives the processes that were started."""
    started, pools = [], []
    popen = subprocess.Popen

    def start(command, **kwargs):
        program = PROGRAM.replace("START", repr(make.says))
        started.append(popen([sys.executable, "-c", program, command[-1]], **kwargs))
        return started[-1]

    def make(size=1):
        pools.append(pool.Pool(size, "bubblewrap", Limits(), seed=1))
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


def test_worker_that_reports_a_failure_goes_on(workers):
    one = workers()
    failing, next_one = one.submit(job("fail")), one.submit(job("a"))
    with pytest.raises(pool.WorkerFailed, match="told so"):
        failing.result(20)
    assert next_one.result(20).changed == ("a",)
    assert len(workers.started) == 1


def test_worker_that_dies_is_replaced_and_the_job_run_again(workers, tmp_path):
    order = f"die once {tmp_path / 'died'}"
    assert workers().submit(job(order)).result(20).changed == (order,)
    assert len(workers.started) == 2


def test_job_that_kills_its_worker_twice_is_given_up(workers):
    one = workers()
    dying, next_one = one.submit(job("die")), one.submit(job("a"))
    with pytest.raises(pool.WorkerFailed, match="died twice"):
        dying.result(20)
    assert next_one.result(20).changed == ("a",)


def test_worker_that_takes_too_long_is_ended(workers, monkeypatch):
    monkeypatch.setattr(pool, "SECONDS_BESIDES", 0.3)
    with pytest.raises(pool.WorkerFailed, match="did not finish"):
        workers().submit(job("sleep")).result(20)


def test_worker_that_cannot_start_says_why(workers):
    workers.says = {"failed": "no sandbox"}
    with pytest.raises(pool.WorkerFailed, match="no sandbox"):
        workers().submit(job("a")).result(20)


def test_worker_that_may_not_be_started_keeps_nobody_waiting(workers, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(pool.subprocess, "Popen", refuse)
    with pytest.raises(pool.WorkerFailed, match="Permission denied"):
        workers().submit(job("a")).result(20)


def test_closed_pool_leaves_no_process(workers):
    one = workers(2)
    one.submit(job("a")).result(20)
    one.submit(job("sleep"))
    one.close()
    assert not any(psutil.pid_exists(process.pid) for process in workers.started)
