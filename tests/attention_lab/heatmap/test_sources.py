from collections import UserDict

import numpy as np
import pytest
import torch

from attention_lab.heatmap.sources import name_variants
from attention_lab.heatmap.weights import looks_causal, read_heads, read_variants

GENERATOR = torch.Generator().manual_seed(0)


def weights(T=3, S=None, B=1, H=2):
    return torch.randn(B, H, T, S or T, generator=GENERATOR).softmax(-1)


class Output(dict):
    """As transformers' own: without what is None."""

    def to_tuple(self):
        return tuple(self.values())


@pytest.mark.parametrize(
    ("given", "names"),
    [
        (weights(), [""]),
        (weights().numpy(), [""]),
        ([weights(), weights()], ["layer 0", "layer 1"]),
        ({"yours": weights(), 2: weights()}, ["yours", "2"]),
        ({"a": (weights(),), "b": (weights(),)}, ["a, layer 0", "b, layer 0"]),
        (Output(logits=torch.zeros(1, 3, 9), attentions=(weights(),)), ["layer 0"]),
        (Output(cross_attentions=(weights(3, 5),), encoder_attentions=()), ["layer 0"]),
        (
            UserDict({f"blocks.{i}.attn.hook_pattern": weights() for i in (0, 5)} | {"x": 1}),
            ["layer 0", "layer 5"],
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_there_is_to_show(given, names):
    assert list(read_variants(given)) == names


def test_steps_of_generate_are_one_picture_for_each_layer():
    steps = []
    for T, S in ((3, 3), (1, 4), (1, 5)):
        future = torch.ones(T, S, dtype=bool).triu(S - T + 1)
        scores = [torch.randn(1, 2, T, S, generator=GENERATOR) for _ in range(2)]
        steps.append(tuple(score.masked_fill(future, -torch.inf).softmax(-1) for score in scores))
    found = read_variants(tuple(steps))
    assert [(name, array.shape) for name, array in found.items()] == [
        ("layer 0", (1, 2, 5, 5)),
        ("layer 1", (1, 2, 5, 5)),
    ]
    assert looks_causal(found["layer 1"])
    np.testing.assert_allclose(found["layer 1"][0, :, 3, :4], steps[1][1][0, :, 0])


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({}, "no weights here"),
        ([], "no weights here"),
        ((), 'attn_implementation="eager"'),
        ((None, None), "output_attentions=True"),
        (Output(logits=torch.zeros(1, 3, 9)), 'attn_implementation="eager"'),
        (Output(attentions=()), 'attn_implementation="eager"'),
        (
            Output(encoder_attentions=(weights(),), cross_attentions=(weights(3, 5),)),
            "encoder_attentions and cross_attentions: pass one .* outputs.cross_attentions",
        ),
    ],
)
def test_one_sentence_where_there_is_nothing_or_too_much(given, says):
    with pytest.raises(ValueError, match=says):
        name_variants(given)


def nested():
    return torch.nested.nested_tensor([torch.ones(2, 2)], layout=torch.jagged)


def fake():
    from torch._subclasses import FakeTensorMode

    with FakeTensorMode():
        return torch.ones(1, 2, 2)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (nested, "nested tensor, .* one sentence at a time"),
        (fake, "FakeTensor that holds no numbers"),
        (lambda: None, 'not NoneType. .* attn_implementation="eager"'),
    ],
)
def test_one_sentence_for_tensors_without_numbers(make, says):
    with pytest.raises(TypeError, match=says):
        read_heads(make())
