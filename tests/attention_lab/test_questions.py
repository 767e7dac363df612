"""What can be computed of the questions is compared with the option that is called right."""

import math
import re

import pytest
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from attention_lab import example
from attention_lab.check import steps
from attention_lab.check.steps.multi_head_attention import TorchAttention
from attention_lab.questions import PREDICTIONS, RECALL
from attention_lab.quiz import OwnWords, Question

ALL = [q for q in (*PREDICTIONS.values(), *RECALL) if isinstance(q, Question)]


def right(name):
    """The text of the option that is called right."""
    (text,) = (option.text for option in PREDICTIONS[name].options if option.right)
    return text


@pytest.fixture
def attention():
    torch.manual_seed(0)
    return TorchAttention(12, 3).requires_grad_(False)


@pytest.fixture
def x():
    return torch.randn(1, 6, 12, generator=torch.Generator().manual_seed(0))


def moved(before, after):
    return ((before - after).abs().amax((0, 2)) > 1e-5).nonzero().flatten().tolist()


@pytest.mark.parametrize("question", ALL, ids=lambda question: question.ask[:40])
def test_every_option_is_explained(question):
    reasons = [option.explain() for option in question.options]
    assert all(re.search(r"\.$", reason) for reason in reasons)
    assert len(set(reasons)) > 1


@pytest.mark.parametrize("question", ALL, ids=lambda question: question.ask[:40])
def test_options_are_plain_text_as_buttons_show_it(question):
    assert not any("`" in option.text for option in question.options)
    assert len({option.text for option in question.options}) == len(question.options)


def test_right_options_are_spread_over_the_letters():
    places = [[option.right for option in question.options].index(True) for question in ALL]
    for place in range(3):
        assert 0.15 < places.count(place) / len(places) < 0.5
    assert not any(len(set(places[i : i + 5])) == 1 for i in range(len(places) - 4))


def test_two_sentences_of_ones_own_have_model_answers():
    models = [question.model for question in RECALL if isinstance(question, OwnWords)]
    assert len(models) == 2
    assert all(20 <= len(model.split()) <= 45 and model.endswith(".") for model in models)


def test_two_questions_come_back_in_another_form():
    """The rows of a head, and what scores are divided by: with other numbers."""
    (rows,) = (q for q in ALL if "rows 40 to 47" in q.ask)
    (head,) = (option.text for option in rows.options if option.right)
    assert head == f"head {40 // (64 // 8)}"
    (widths,) = (q for q in ALL if "grows from" in q.ask)
    (told,) = (option.text for option in widths.options if option.right)
    assert told == f"both times by √{256 // 8}"
    assert 256 // 8 == 1024 // 32


def test_project_rows():
    layer = nn.Linear(32, 32)
    first, last = map(int, re.findall(r"\d+", right("project-rows")))
    x = torch.randn(3, 32)
    alone = nn.functional.linear(x, layer.weight[first : last + 1], layer.bias[first : last + 1])
    assert torch.equal(alone, layer(x)[:, 16:24])


def test_split_shape():
    assert right("split-shape") == str(tuple(steps.split_heads(torch.zeros(2, 5, 12), 3).shape))


def test_split_strides():
    split = torch.zeros(1, 3, 4).view(1, 3, 2, 2).transpose(1, 2)
    assert right("split-strides") == str(split.stride())


def test_scale():
    assert float(right("scale")) == math.sqrt(512 / 8)
    texts = [option.text for option in PREDICTIONS["scale"].options]
    assert set(texts) == {f"{math.sqrt(512):.1f}", "8", "64", f"{math.sqrt(8):.1f}"}


def test_mask_first_row():
    weights = steps.masked_softmax(torch.zeros(1, 1, 5, 5), steps.causal_mask(5))
    assert right("mask-first-row") == ", ".join(f"{w:.0f}" for w in weights[0, 0, 0])


def test_merge_view():
    split = steps.split_heads(torch.zeros(1, 3, 4), 2)
    split.transpose(1, 2).view(1, 3, 4)
    attended = torch.eye(3).expand(1, 2, 3, 3) @ split
    with pytest.raises(RuntimeError):
        attended.transpose(1, 2).view(1, 3, 4)
    assert "error" in right("merge-view")


def test_law_causal(attention, x):
    changed = x.clone()
    changed[:, 3] += 1
    rows = moved(attention(x, True), attention(changed, True))
    assert [int(row) for row in re.findall(r"\d", right("law-causal"))] == rows


def test_law_permutation(attention, x):
    order = [5, 2, 0, 4, 1, 3]
    before, after = attention(x), attention(x[:, order])
    assert moved(before, after)
    assert moved(before[:, order], after) == []


def test_law_constant(attention, x):
    output = attention(x[:, :1].expand(1, 6, 12))
    assert moved(output, output[:, :1].expand_as(output)) == []


def test_cost():
    def operations(heads):
        q, k, v = (torch.zeros(1, heads, 7, 64 // heads) for _ in range(3))
        with FlopCounterMode(display=False) as counter:
            steps.attend(steps.attention_scores(q, k), v)
        return counter.get_total_flops()

    assert operations(1) == operations(8) > 0
    assert right("cost") == "stays the same"


@pytest.fixture
def scores():
    """Scores (1, 4, 6, 6) of the running example."""
    q, k = (
        steps.split_heads(part(example.x), example.num_heads)
        for part in (example.q_proj, example.k_proj)
    )
    return steps.attention_scores(q, k)


def test_wrong_mask_late(scores):
    sums = (scores.softmax(-1) * steps.causal_mask(6).exp()).sum(-1)
    assert (sums[..., :-1] < 1 - 1e-3).all()
    assert right("wrong-mask-late") == "less than 1"


def test_wrong_diagonal(scores):
    closed = torch.full((6, 6), -math.inf).triu(diagonal=0)
    empty = (scores + closed).softmax(-1).isnan().any(-1)
    assert [f"row {row}" for row in range(6) if empty[..., row].all()] == [right("wrong-diagonal")]
    assert not empty[..., 1:].any()


def test_wrong_axis(scores):
    for any_scores in (scores, torch.randn(1, 2, 6, 6)):
        itself = (any_scores + steps.causal_mask(6)).softmax(-2)[..., -1, -1]
        assert (itself == 1).all()
    assert right("wrong-axis").startswith("1,")


def test_wrong_root(scores):
    assert math.sqrt(example.d_head) == math.sqrt(8)
    weights, sharper = (
        steps.masked_softmax(s, steps.causal_mask(6)) for s in (scores, scores * math.sqrt(8))
    )
    assert (sharper.amax(-1) >= weights.amax(-1) - 1e-6).all()
    assert (sharper - weights).abs().max() < 0.05
    assert right("wrong-root") == "nearly the same, a little sharper"
