import pytest
import torch
from torch import nn
from torch.nn import functional as F

from attention_lab.observation.elsewhere import Elsewhere

HERE, THERE = torch.ones(2, 3), torch.empty(2, 3, device="meta")


def filled(x):
    out = torch.empty(2, 3)
    out[:] = x
    return out


@pytest.mark.parametrize(
    "fetch",
    [
        torch.Tensor.cpu,
        filled,
        lambda x: x.to("cpu"),
        lambda x: x.to(HERE),
        lambda x: x.to(device="cpu", dtype=torch.float64),
        lambda x: x.type(torch.FloatTensor),
        lambda x: torch.empty(2, 3).copy_(x),
        lambda x: torch.as_tensor(x, device="cpu"),
    ],
)
def test_what_is_fetched_is_on_the_cpu_and_may_go_back(fetch):
    with Elsewhere():
        fetched = fetch(THERE)
        back = fetched.to(THERE.device)
    assert fetched.tolist() == [[0, 0, 0]] * 2
    assert back.is_meta


@pytest.mark.parametrize("ask", [torch.Tensor.item, torch.Tensor.tolist, bool])
def test_numbers_are_missing_still(ask):
    with Elsewhere(), pytest.raises((NotImplementedError, RuntimeError), match="meta"):
        ask(torch.empty(1, device="meta"))


def test_a_layer_gives_what_torch_gives_for_it():
    x = torch.empty(4, 2, 3, device="meta")
    for layer in (nn.Linear(3, 5, device="meta"), nn.Linear(3, 5, bias=False, device="meta")):
        with Elsewhere():
            shown = layer(x)
        assert (shown.shape, shown.dtype, shown.is_meta) == ((4, 2, 5), torch.float32, True)


@pytest.mark.parametrize("x", [HERE, torch.empty(2, 4, device="meta")])
def test_what_a_layer_does_not_take_raises(x):
    with Elsewhere(), pytest.raises(RuntimeError):
        F.linear(x, torch.empty(5, 3, device="meta"), torch.empty(5, device="meta"))
