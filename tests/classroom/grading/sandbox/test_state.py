import os
import shutil
import socket

import pytest

from classroom.grading.sandbox import state


@pytest.fixture(autouse=True)
def ipc(tmp_path, monkeypatch):
    """A copy: others on this machine have shared memory of their own."""
    monkeypatch.setattr(state, "IPC", shutil.copytree(state.IPC, tmp_path / "ipc"))
    return state.IPC


@pytest.fixture
def changed():
    before = state.snapshot()
    return lambda: state.differences(before, state.snapshot())


def test_nothing_changes_by_itself(changed):
    assert changed() == []


def test_descriptors_are_seen(changed):
    with socket.socket():
        assert changed() == ["descriptors"]


@pytest.mark.parametrize("kind", ["shm", "sem", "msg"])
def test_what_outlives_processes_is_seen(changed, ipc, kind):
    with (ipc / kind).open("a") as listed:
        listed.write("1 1 666")
    assert changed() == ["shared memory, semaphores, messages"]


def test_affinity_is_seen(changed):
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    try:
        assert changed() == (["affinity"] if len(cores) > 1 else [])
    finally:
        os.sched_setaffinity(0, cores)


def test_every_part_is_compared():
    before = state.snapshot()
    for name in before:
        assert state.differences(before, before | {name: "other"}) == [name]


def test_numbers_are_used_up():
    first, second = state.next_number(), state.next_number()
    assert 0 < first < second
