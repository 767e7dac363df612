import subprocess
import sys

import pytest
import torch
from torch import nn

from attention_lab.observation.neutral import COMPARISONS, neutral_torch


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


@pytest.mark.parametrize(
    ("owner", "name"),
    [
        (nn.MultiheadAttention, "forward"),
        (nn.functional, "multi_head_attention_forward"),
        (nn.functional, "scaled_dot_product_attention"),
        (torch, "softmax"),
        (torch.Tensor, "transpose"),  # of a base of Tensor
        (torch.Tensor, "__matmul__"),
        (torch.Tensor, "to"),
        (nn.Linear, "forward"),
        (nn.Linear, "__call__"),
    ],
)
def test_replaced_functions_are_put_aside_and_come_back(owner, name, monkeypatch):
    before = getattr(owner, name)
    broken = lambda *args, **kwargs: 1 / 0  # noqa: E731
    monkeypatch.setattr(owner, name, broken)
    with neutral_torch():
        assert getattr(owner, name) == before
    assert getattr(owner, name) is broken


NOTHING_CHANGES = """
from attention_lab.observation.neutral import OWNERS, neutral_torch

with neutral_torch():
    inside = [dict(vars(owner)) for owner in OWNERS]
assert inside == [dict(vars(owner)) for owner in OWNERS]
"""


def test_nothing_is_put_aside_in_a_new_process():
    subprocess.run([sys.executable, "-c", NOTHING_CHANGES], check=True)


def test_comparisons_stay_replaced_so_that_it_is_seen(monkeypatch):
    for module, name in COMPARISONS:
        monkeypatch.setattr(module, name, print)
        with neutral_torch():
            assert getattr(module, name) is print
