import pytest
import torch

from attention_lab.observation.neutral import neutral_torch


def state():
    return (
        torch.get_default_dtype(),
        torch.get_default_device().type,
        torch.is_grad_enabled(),
        torch.is_inference_mode_enabled(),
        torch.is_autocast_enabled("cpu"),
    )


NEW = (torch.float32, "cpu", True, False, False)


@pytest.mark.parametrize(
    "changed",
    [
        torch.no_grad,
        torch.inference_mode,
        lambda: torch.autocast("cpu", torch.bfloat16),
        lambda: torch.device("meta"),
    ],
    ids=["no_grad", "inference", "autocast", "device"],
)
def test_changes_are_put_aside_and_come_back(changed):
    with changed():
        before = state()
        assert before != NEW
        with neutral_torch():
            assert state() == NEW
        assert state() == before


def test_default_dtype_comes_back_after_an_error():
    torch.set_default_dtype(torch.float64)
    with pytest.raises(ZeroDivisionError), neutral_torch():
        print(1 / 0)
    assert torch.get_default_dtype() is torch.float64
    torch.set_default_dtype(torch.float32)


def test_one_thread_works_meanwhile():
    threads = torch.get_num_threads()
    torch.set_num_threads(threads + 1)
    try:
        with neutral_torch():
            assert torch.get_num_threads() == 1
        assert torch.get_num_threads() == threads + 1
    finally:
        torch.set_num_threads(threads)
