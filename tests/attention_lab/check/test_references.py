import pytest
import torch
from torch import nn

from attention_lab.check import references
from attention_lab.check.probes import DISTINCT, probes
from attention_lab.observation import Call, Layer, Pipeline, Probe


def test_torchs_attention_is_the_module_itself():
    torch.manual_seed(0)
    ours, theirs = references.TorchAttention(12, 3), nn.MultiheadAttention(12, 3, batch_first=True)
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
    names = [name for name, _ in references.TorchAttention(4, 2).named_parameters()]
    assert len(names) == 8
    assert all("proj" in name and "in_proj" not in name for name in names)


def test_in_float64_shares_nothing_and_keeps_the_rest():
    probe = Probe("project", "x", (Call((torch.ones(2), 3, torch.float32, torch.ones(2).long())),))
    numbers, three, dtype, whole = references.in_float64(probe).calls[0].args
    assert (numbers.dtype, dtype) == (torch.float64, torch.float64)
    assert three == 3
    assert whole.dtype is torch.int64
    numbers.zero_()
    assert probe.calls[0].args[0].sum() == 2


@pytest.mark.parametrize("step", references.STEPS)
def test_expectations_are_in_float64_and_never_fail(step):
    for probe in probes(step, 1):
        seen = references.expect(probe)
        assert seen.failure is None
        for outcome in seen.outcomes:
            assert outcome.failure is None
            first = outcome.output[0] if isinstance(outcome.output, tuple) else outcome.output
            assert first.dtype is torch.float64 or step == "causal_mask"


def test_stages_hold_every_step_as_often_as_it_is_taken():
    d_model = DISTINCT.d_model
    layers = tuple(Layer(torch.randn(d_model, d_model), torch.randn(d_model)) for _ in range(4))
    x = torch.randn(DISTINCT.B, DISTINCT.T, d_model)
    taken = references.stages(Pipeline(x, layers, DISTINCT.H, True))
    assert {step: len(calls) for step, calls in taken.items()} == {
        "project": 1,
        "split_heads": 3,
        "attention_scores": 1,
        "causal_mask": 1,
        "masked_softmax": 1,
        "attend": 1,
        "merge_heads": 1,
    }
