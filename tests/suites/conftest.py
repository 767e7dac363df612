import pytest
import torch
from verdict import torch_as_it_was

from attention_lab import check
from attention_lab.check import diagnose


@pytest.fixture(autouse=True)
def quiet_torch():
    """One thread, seeded checks, and a torch that no answer has changed for the next."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    check.use_seed(0)
    with torch_as_it_was():
        yield
    check.use_seed(None)
    torch.set_num_threads(threads)


@pytest.fixture
def undiagnosed(monkeypatch):
    """Verdicts alone, without the time it takes to name what is wrong."""
    monkeypatch.setattr(
        diagnose, "diagnose", lambda step, aspect, *seen: check.Mistake(step, aspect, "", "", "")
    )
