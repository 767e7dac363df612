import math

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from attention_lab.observation.elsewhere import THERE, elsewhere, is_there, put

HERE = torch.ones(2, 3)


@pytest.fixture
def x():
    return put(torch.tensor([[1.0, 2, 3], [4, 5, 6]]))


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
        lambda x: torch.from_numpy(x.cpu().numpy()),
        lambda x: torch.tensor(x.tolist()),
        lambda x: torch.ones(2, 3, device="cpu"),
    ],
)
def test_what_is_fetched_is_on_the_cpu_and_may_go_back(fetch, x):
    with elsewhere():
        fetched = fetch(x)
        assert fetched.device == torch.device("cpu")
        backs = fetched.to(x.device), fetched.to(x), fetched.type_as(x)
        assert x.device == THERE
        assert all(back.device == THERE for back in backs)
    assert not is_there(fetched)
    assert all(map(is_there, backs))


@pytest.mark.parametrize(
    "make",
    [
        lambda x: x @ x.mT,
        lambda x: x.softmax(-1),
        lambda x: x.softmax(-1, dtype=torch.float64),
        lambda x: F.log_softmax(x, -1, dtype=torch.float64).exp().to(x.dtype),
        lambda x: torch.vmap(lambda row: F.softmax(row, -1, dtype=torch.float64))(x),
        lambda x: F.one_hot(x.argmax(-1), 3),
        lambda x: 2 * x + 1,
        lambda x: x[0],
        lambda x: x[torch.tensor([1])],
        lambda x: x.clone(),
        lambda x: torch.zeros_like(x),
        lambda x: x.new_full((3, 3), -math.inf),
        lambda x: torch.full((3, 3), -math.inf, device=x.device).triu(1),
        lambda x: torch.ones(3, 3, device=x.device, dtype=torch.bool).tril(),
        lambda x: torch.arange(3, device=x.device)[:, None] >= torch.arange(3, device=x.device),
        lambda x: torch.triu_indices(3, 3, device=x.device),
        lambda x: torch.tensor([1.0, 2], device=x.device),
        lambda x: torch.as_tensor(np.ones(2), device=x.device),
        lambda x: torch.where(x > 2, x, 0.0),
        lambda x: x / torch.tensor(3.0),
        lambda x: x.masked_fill(x > 2, -math.inf),
        lambda x: torch.cat([x, x.flip(0)]),
        lambda x: torch.einsum("ij,kj->ik", x, x),
        lambda x: torch.vmap(lambda row: row / row.sum() + torch.ones(3, device=x.device))(x),
        lambda x: x.detach().requires_grad_().mul(2),
        lambda x: torch.ones(2, 3).to(x) + x,
        lambda x: torch.ones(2, 3).to(x.device) + x,
    ],
)
def test_what_is_made_of_it_stays_there(make, x):
    with elsewhere():
        made = make(x)
        assert made.device == THERE
    assert is_there(made)


def test_a_device_may_be_the_default_for_a_while(x):
    with elsewhere(), torch.device(x.device):
        assert (torch.ones(2, 3) + x).device == THERE


@pytest.mark.parametrize(
    "mix",
    [
        lambda x: x + torch.ones(3),
        lambda x: x @ torch.ones(3, 3),
        lambda x: x.masked_fill(torch.ones(2, 3).bool(), 0),
        lambda x: torch.where(torch.ones(2, 3).bool(), x, x),
        lambda x: torch.cat([x, torch.ones(2, 3)]),
        lambda x: torch.stack([torch.ones(2, 3), x]),
        lambda x: torch.ones(3).add_(x[0]),
        lambda x: F.linear(x, torch.ones(5, 3), torch.ones(5)),
        lambda x: nn.Linear(3, 5)(x),
    ],
)
def test_what_lies_apart_does_not_meet(mix, x):
    with elsewhere(), pytest.raises(RuntimeError, match=r"same device.*cpu.*meta"):
        mix(x)


def test_numpy_has_no_such_device(x):
    for ask in (torch.Tensor.numpy, np.asarray):
        with elsewhere(), pytest.raises(TypeError, match="numpy"):
            ask(x)


def test_numbers_are_there(x):
    with elsewhere():
        assert x.sum().item() == 21
        assert bool((x > 0).all())


def test_a_module_moves_with_its_parameters_and_buffers(x):
    layer = nn.Linear(3, 5)
    layer.register_buffer("ones", torch.ones(5))
    layer.kept = torch.ones(5)
    weight = layer.weight
    with elsewhere():
        layer.to(THERE)
        assert (layer(x) + layer.ones).device == THERE
        with pytest.raises(RuntimeError, match="same device"):
            layer(x) + layer.kept
    assert layer.weight is weight


@pytest.mark.filterwarnings("ignore:.*jit.script")
def test_a_step_written_as_a_script_works_there(x):
    @torch.jit.script
    def scaled(x: torch.Tensor) -> torch.Tensor:
        return x / x.size(-1) ** 0.5

    with elsewhere():
        assert scaled(x).device == THERE
