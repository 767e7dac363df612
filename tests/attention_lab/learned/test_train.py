import pytest
import torch

from attention_lab.check.steps.multi_head_attention import TorchAttention
from attention_lab.learned import task, train
from attention_lab.learned.train import RATES, SOLVED, Reader


@pytest.mark.parametrize("num_heads", RATES)
def test_every_number_of_heads_has_as_many_parameters(num_heads):
    run = train(TorchAttention, num_heads, 0, steps=3)
    assert run.parameters == train(TorchAttention, 1, 0, steps=3).parameters == 5814
    assert run.weights["after"].shape == (num_heads, task.T, task.T)
    assert run.shares["after"].shape == (num_heads, len(task.JOBS))


def test_the_same_seed_gives_the_same_numbers_and_leaves_the_callers_alone():
    state = torch.get_rng_state()
    first, second, other = (train(TorchAttention, 2, seed, steps=3) for seed in (5, 5, 6))
    assert first.losses == second.losses != other.losses
    assert torch.equal(torch.get_rng_state(), state)


def test_a_notebooks_default_dtype_makes_no_difference():
    expected = train(TorchAttention, 2, 5, steps=3).losses
    torch.set_default_dtype(torch.float64)
    try:
        assert train(TorchAttention, 2, 5, steps=3).losses == expected
    finally:
        torch.set_default_dtype(torch.float32)


def test_every_step_is_reported():
    heard = []
    run = train(TorchAttention, 2, 0, steps=3, report=lambda *told: heard.append(told))
    assert heard == list(enumerate(run.losses, start=1))


def test_four_heads_learn_all_jobs_each_by_a_head_of_its_own():
    run = train(TorchAttention, 4, 1, steps=200)
    assert run.solved
    best, by = run.shares["after"].max(0)
    assert (best > 0.5).all()
    assert len(set(by.tolist())) == len(task.JOBS)
    assert run.shares["before"].max() < 0.5
    assert run.losses[0] > 1.5 > 0.05 > run.losses[-1]


def test_not_solved_before_every_job_is():
    run = train(TorchAttention, 4, 1, steps=3)
    assert not run.solved
    assert min(run.accuracy) < SOLVED


def test_answers_come_from_the_attention_alone():
    """With an attention that says nothing, all tokens of all stories get the same answers."""

    class Silent(TorchAttention):
        def forward(self, x, causal=False):
            return torch.zeros_like(x)

    stories = task.draw(4, torch.Generator().manual_seed(0))
    for logits in Reader(Silent, 2)(stories):
        assert (logits == logits[:1, :1]).all()
