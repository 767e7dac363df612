"""What every test shares: one torch thread, a PostgreSQL server, lines that sum up the suites."""

import os

import pytest

os.environ["OMP_NUM_THREADS"] = "1"  # also of the kernels that tests start, two at a time

pytest_plugins = ["postgresql_server", "summary"]


@pytest.fixture(autouse=True, scope="session")
def one_thread():
    import torch

    torch.set_num_threads(1)
