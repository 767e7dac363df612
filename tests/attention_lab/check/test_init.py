"""What the lesson calls."""

import inspect

import pytest
import torch
from torch import nn

from attention_lab import check
from attention_lab.check import steps


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.out_proj = nn.Linear(d_model, d_model)

    def forward(self, x, causal=False):
        q, k, v = steps.project(x, self.q_proj, self.k_proj, self.v_proj)
        q, k, v = (steps.split_heads(part, self.num_heads) for part in (q, k, v))
        mask = steps.causal_mask(x.shape[1], x.device, x.dtype) if causal else None
        weights = steps.masked_softmax(steps.attention_scores(q, k), mask)
        return self.out_proj(steps.merge_heads(steps.attend(weights, v)))


ANSWERS = {step: getattr(steps, step, MultiHeadAttention) for step in check.STEPS}


def test_the_example_of_the_design():
    attention = MultiHeadAttention(16, 4)
    assert attention(torch.randn(2, 5, 16), causal=True).shape == (2, 5, 16)


@pytest.mark.parametrize("step", check.STEPS)
@pytest.mark.parametrize("aspect", [None, "shape", "value"])
@pytest.mark.parametrize("hidden", [False, True])
def test_a_right_answer_gets_one_line(step, aspect, hidden, capsys):
    getattr(check, step)(ANSWERS[step], aspect=aspect, hidden=hidden)
    printed = capsys.readouterr().out
    what = f"{step}, {aspect}" if aspect else step
    assert printed.startswith(f"\N{CHECK MARK} {what}: right in ")
    assert printed.count("\n") == 1
    assert ("hidden ones among them" in printed) is hidden


@pytest.mark.parametrize("step", check.STEPS)
def test_the_signature_and_the_documentation(step):
    signature = str(inspect.signature(getattr(check, step)))
    assert signature == "(answer, *beside, aspect=None, hidden=False)"
    assert "Mistake" in getattr(check, step).__doc__


def test_an_unknown_aspect_is_refused():
    with pytest.raises(ValueError, match='"shape", "value" or None'):
        check.project(steps.project, aspect="manner")
