import os
import subprocess
import threading

import pytest

from classroom.grading.pidfd import Pidfd


@pytest.fixture
def sleeper():
    with subprocess.Popen(["sleep", "60"]) as process:
        yield process
        process.kill()


def test_process_is_ended_and_let_go(sleeper):
    before = len(os.listdir("/proc/self/fd"))
    process = Pidfd(sleeper.pid)
    assert not process.has_ended()
    process.end(seconds=20)
    assert sleeper.wait() == -9
    assert len(os.listdir("/proc/self/fd")) == before


def test_process_that_has_ended_already_is_told(sleeper):
    process = Pidfd(sleeper.pid)
    sleeper.kill()
    sleeper.wait()
    assert process.has_ended()
    process.kill()
    process.end(seconds=0)


def test_several_threads_may_end_it(sleeper):
    process = Pidfd(sleeper.pid)
    threads = [threading.Thread(target=process.end, args=(20,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sleeper.wait() == -9


def test_there_must_be_one(sleeper):
    sleeper.kill()
    sleeper.wait()
    with pytest.raises(ProcessLookupError):
        Pidfd(sleeper.pid)
