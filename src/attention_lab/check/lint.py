"""Blind probes: the ways in which the tests of public courses let wrong answers through.

A probe set is fit to be used if `lint` has no complaint about it.
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from attention_lab.check import references, steps
from attention_lab.check.judge import tensors
from attention_lab.check.numbers import close, same
from attention_lab.observation import Layer, Probe, Tag

FINE = 1e-5
ENTROPY = (0.2, 0.9)  # of log T, the mean over rows
ENOUGH_TOKENS = 4
VISIBLE_ABOVE = 1000  # times the tolerance


def lint(probes: tuple[Probe, ...]) -> list[str]:
    """Return what makes these probes blind, one sentence each; empty if nothing does."""
    probes = tuple(probe for probe in probes if not probe.elsewhere)
    return [
        *_one_head(probes),
        *_alike(probes),
        *_softmax(probes),
        *_small(probes),
        *_round_trip(probes),
        *_same_inputs(probes),
    ]


def lint_numbers(make: Callable[[], tuple[Probe, ...]]) -> list[str]:
    """Complain if the numbers of `make()` hang on torch's own random state, or move it."""
    before = torch.get_rng_state()
    torch.manual_seed(1)
    one, state = make(), torch.get_rng_state()
    torch.manual_seed(2)
    other = make()
    tied = any(not same(a, b) for a, b in zip(_all(one), _all(other), strict=True))
    moved = not torch.equal(state, torch.manual_seed(1).get_state())
    torch.set_rng_state(before)
    return ["the numbers are tied to the notebook's random stream"] if tied or moved else []


def _all(probes):
    """All numbers that the probes pass as arguments."""
    args = [
        arg for probe in probes if not probe.elsewhere for call in probe.calls for arg in call.args
    ]
    return [arg for arg in args if isinstance(arg, Tensor | Layer)]


def _one_head(probes):
    heads = {steps.of(p.step).sizes(p.calls[0], p.module).get("H") for p in probes} - {None}
    if heads and heads <= {1}:
        yield "there is one head only: confusing heads with anything goes unseen"


def _alike(probes):
    for probe in probes:
        layers = probe.module.layers if probe.module else probe.calls[0].args[1:]
        layers = [layer.weight for layer in layers if isinstance(layer, Layer)]
        if _any_equal(layers):
            yield f"{probe.about}: two projections are alike"
        if _is_fine(probe) and any(map(_any_equal, steps.of(probe.step).by_head(probe))):
            yield f"{probe.about}: two heads are alike"


def _is_fine(probe):
    """Whether a probe is judged by ordinary numbers; others are there for numbers that are not."""
    return probe.tolerance == FINE and Tag.VALUES not in probe.tags


def _any_equal(items):
    items = list(items)
    return any(close(a, b, 1e-3) for i, a in enumerate(items) for b in items[:i])


def _softmax(probes):
    """Complain where softmax is nearly one-hot or nearly flat, unless that is what is tried."""
    for probe in probes:
        if probe.law or not _is_fine(probe):
            continue
        for call in range(len(probe.calls)):
            scores = steps.of(probe.step).scores(probe, call)
            if scores is None or not ENOUGH_TOKENS <= (T := scores.shape[-1]) <= 100:
                continue
            weights = scores.double().softmax(-1)
            entropy = -(weights * weights.clamp_min(1e-300).log()).sum(-1).mean() / math.log(T)
            if not ENTROPY[0] <= entropy <= ENTROPY[1]:
                yield f"{probe.about}: softmax is {'flat' if entropy > 0.5 else 'saturated'}"


def _small(probes):
    for probe in probes:
        if not _is_fine(probe):
            continue
        for outcome in references.expect(probe).outcomes:
            outputs = tensors(probe.step, outcome.output)
            for output in map(steps.of(probe.step).compared, outputs):
                if output.abs().max() < VISIBLE_ABOVE * probe.tolerance:
                    yield f"{probe.about}: the right numbers are hardly larger than the tolerance"


def _round_trip(probes):
    """Some input must be fresh: what comes straight from another step is not in order in memory,
    and may be viewed back even if neither step is right."""
    inputs = [value for value in _all(probes) if isinstance(value, Tensor) and value.dim() > 3]
    if inputs and not any(x.is_contiguous() and x.shape[1] > 1 and x.shape[2] > 1 for x in inputs):
        yield "no tensor is fresh: a round trip through another step proves nothing"


def _same_inputs(probes):
    for probe in filter(_is_fine, probes):
        for call in probe.calls:
            given = [v for v in call.args if isinstance(v, Tensor) and not v.is_meta]
            shapes = {v.shape for v in given}
            if len(given) > 1 and len(shapes) == 1 and _any_equal(given):
                yield f"{probe.about}: two arguments are the same"
