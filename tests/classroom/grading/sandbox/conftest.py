import os
import time

import pytest

fork = os.fork


@pytest.fixture(scope="session")
def in_fork():
    """Runs an action in a fork; returns the exit status of it, by default 0."""

    def run(action):
        child = fork()
        if child == 0:
            status = 1
            try:
                status = action() or 0
            finally:
                os._exit(status)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    return run


@pytest.fixture(scope="session")
def orphaned(in_fork):
    """Runs an action in a process that ends as soon as it has forked; returns what the fork wrote
    to the descriptor that the action is given."""

    def fork_and_end():
        parent = os.getpid()
        if fork():
            os._exit(0)
        while os.getppid() == parent:
            time.sleep(0.001)
        return 0

    def run(action):
        read, write = os.pipe()

        def act():
            os.fork = fork_and_end
            action(write)

        assert in_fork(act) == 0
        os.close(write)
        with open(read, "rb") as pipe:
            return pipe.read()

    return run
