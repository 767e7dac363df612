"""Every way in which probes go blind is seen, and none of ours is blind."""

from dataclasses import replace

import pytest
import torch

from attention_lab.check.lint import lint, lint_numbers
from attention_lab.check.probes import probes
from attention_lab.check.steps import STEPS
from attention_lab.observation import Call


@pytest.mark.parametrize("step", STEPS)
def test_our_probes_are_not_blind(step):
    for seed in (0, 1, 2):
        assert lint(probes(step, seed, hidden=True)) == []
    assert lint_numbers(lambda: probes(step, 0, hidden=True)) == []


def first(step):
    return probes(step, 0)[0]


def with_args(step, *args):
    return (replace(first(step), calls=(Call(args),)),)


def test_one_head_only():
    one_head = tuple(p for p in probes("split_heads", 0, hidden=True) if p.calls[0].args[1] == 1)
    assert "there is one head only" in lint(one_head)[0]


def test_projections_alike():
    probe = first("MultiHeadAttention")
    layers = probe.module.layers
    alike = replace(probe, module=replace(probe.module, layers=(layers[0], layers[0], *layers[2:])))
    assert any("two projections are alike" in c for c in lint((alike,)))


def test_heads_alike():
    x = first("merge_heads").calls[0].args[0]
    complaints = lint(with_args("merge_heads", x[:, :1].expand_as(x).contiguous()))
    assert any("two heads are alike" in c for c in complaints)


@pytest.mark.parametrize(("factor", "complaint"), [(30, "saturated"), (0.05, "flat")])
def test_softmax_that_tells_nothing(factor, complaint):
    scores, mask = first("masked_softmax").calls[0].args
    assert any(complaint in c for c in lint(with_args("masked_softmax", factor * scores, mask)))


def test_numbers_as_small_as_the_tolerance():
    x, H = first("split_heads").calls[0].args
    assert any("hardly larger" in c for c in lint(with_args("split_heads", 1e-4 * x, H)))


def test_a_round_trip_only():
    x = first("merge_heads").calls[0].args[0]
    straight_from_split = x.transpose(1, 2).contiguous().transpose(1, 2)
    assert any("round trip" in c for c in lint(with_args("merge_heads", straight_from_split)))


def test_the_same_argument_twice():
    q, _ = first("attention_scores").calls[0].args
    assert any("two arguments are the same" in c for c in lint(with_args("attention_scores", q, q)))


def test_numbers_tied_to_the_random_stream():
    (complaint,) = lint_numbers(lambda: with_args("merge_heads", torch.randn(2, 3, 4, 5)))
    assert "random stream" in complaint
