"""What every test shares: one torch thread, a PostgreSQL server, lines that sum up the suites."""

import asyncio
import os

import pytest

os.environ["OMP_NUM_THREADS"] = "1"  # also of the kernels that tests start, two at a time

pytest_plugins = ["postgresql_server", "summary"]


@pytest.fixture(autouse=True, scope="session")
def one_thread():
    import torch

    torch.set_num_threads(1)


@pytest.fixture(autouse=True, scope="module")
def no_loop_left():
    """A running event loop would be in the way of files that come later in the process."""
    yield
    with pytest.raises(RuntimeError, match="no running event loop"):
        asyncio.get_running_loop()


@pytest.fixture(autouse=True, scope="session")
def nothing_unforeseen():
    """What a diagnosis raises would be lost behind a mistake without a name."""
    from attention_lab.check import diagnose

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(diagnose, "UNFORESEEN", ())
        yield
