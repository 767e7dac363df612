"""What is right for the class is PyTorch's attention, and the steps put together are it."""

import ast

import pytest
import torch
from torch import nn

from attention_lab.check import steps
from attention_lab.check.draw import DISTINCT, Draw, Sizes
from attention_lab.check.laws import LAWS
from attention_lab.check.steps.multi_head_attention import (
    SOURCE,
    STEP,
    TorchAttention,
    module_of,
    take,
    whole,
)
from attention_lab.observation import Call


def test_the_text_of_the_right_steps_needs_nothing_but_torch():
    tree = ast.parse(SOURCE)
    imported = [a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names]
    assert imported == ["math", "torch"]
    assert not any(isinstance(node, ast.ImportFrom) for node in ast.walk(tree))
    space = {}
    exec(SOURCE, space)
    assert set(steps.STEPS[:-1]) <= set(space)


def test_torchs_attention_is_the_module_itself():
    torch.manual_seed(0)
    ours, theirs = TorchAttention(12, 3), nn.MultiheadAttention(12, 3, batch_first=True)
    layers = (ours.q_proj, ours.k_proj, ours.v_proj)
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([layer.weight for layer in layers]))
        theirs.in_proj_bias.copy_(torch.cat([layer.bias for layer in layers]))
        theirs.out_proj.weight.copy_(ours.out_proj.weight)
        theirs.out_proj.bias.copy_(ours.out_proj.bias)
    x = torch.randn(2, 5, 12)
    mask = nn.Transformer.generate_square_subsequent_mask(5)
    torch.testing.assert_close(ours(x), theirs(x, x, x)[0])
    torch.testing.assert_close(ours(x, True), theirs(x, x, x, attn_mask=mask)[0])


def test_only_the_four_layers_are_its_parameters():
    names = [name for name, _ in TorchAttention(4, 2).named_parameters()]
    assert len(names) == 8
    assert all("proj" in name and "in_proj" not in name for name in names)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("sizes", [Sizes(3, 7, 30, 5), Sizes(1, 1, 4, 2), Sizes(2, 5, 6, 1)])
def test_the_steps_together_are_pytorchs_attention(sizes, causal):
    draw, weights = Draw(0), []
    x, layers = draw.normal(sizes.B, sizes.T, sizes.d_model), draw.layers(sizes.d_model)

    def noting(step, *args):
        result = take(step, *args)
        if step == "masked_softmax":
            weights.append(result)
        return result

    output = whole(x, layers, sizes.H, causal, noting)
    torchs = TorchAttention(sizes.d_model, sizes.H)
    with torch.no_grad():
        for name, layer in zip(("q_proj", "k_proj", "v_proj", "out_proj"), layers, strict=True):
            getattr(torchs, name).weight.copy_(layer.weight)
            getattr(torchs, name).bias.copy_(layer.bias)
        right, right_weights = torchs.with_weights(x, causal)
    torch.testing.assert_close(output, right, atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(weights, [right_weights], atol=1e-5, rtol=1e-5)


def test_every_step_is_tried_inside_it_as_often_as_it_is_taken():
    counts = {
        step.name: [len(probe.calls) for probe in STEP.around(step, Draw(0))]
        for step in steps.GRADED
    }
    once = {step: [1, 1] for step in steps.STEPS[:-1]}
    assert counts == once | {"split_heads": [3, 3], "causal_mask": [1], STEP.name: []}


def test_what_a_step_gives_is_put_in_its_place():
    split = steps.of("split_heads")
    plain, causal = STEP.around(split, Draw(0))
    for probe in (plain, causal):
        right = [steps.split_heads(*call.args) for call in probe.calls]
        assert LAWS["whole"](probe, right) is None
        assert LAWS["whole"](probe, [right[0], right[1].flip(1), right[2]]) > 0.01


def test_a_faulty_forward_gets_what_stands_for_its_instance():
    x = torch.ones(2, 3, DISTINCT.d_model)
    probe = STEP.probe("a try", Call((x, True)), module=module_of(Draw(0), DISTINCT))
    instance, given, causal = STEP.for_faulty(probe, 0)
    assert (instance.d_model, instance.num_heads, instance.d_head) == (30, 5, 6)
    assert given is x
    assert causal is True
    assert instance.q_proj(x).shape == x.shape
    assert instance.out_proj.weight is probe.module.layers[3].weight
