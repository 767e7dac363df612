"""Laws that every attention obeys, read off a probe's calls and what came back."""

from functools import lru_cache

import torch

from attention_lab.check import steps
from attention_lab.check.references import expect

LAW_TOLERANCE = 1e-5


def no_leak(probe, outputs):
    """A last token that the second call changes moves no earlier row. Returns the largest move, or
    None."""
    before, after = (output[:, :-1] for output in outputs[:2])
    return _moved(before, after)


def permutation(probe, outputs):
    """Without a mask, permuted tokens permute rows. Returns the largest difference, or None."""
    (x, *_), (permuted, *_) = (call.args for call in probe.calls)
    order = [int((x[0] == token).all(-1).nonzero()) for token in permuted[0]]
    return _moved(outputs[0][:, order], outputs[1])


def constant(probe, outputs):
    """Where all values are the same, all outputs are. Returns the largest difference, or None."""
    (output,) = outputs
    return _moved(output[..., :1, :].expand_as(output), output)


def whole(probe, outputs):
    """Otherwise right steps around this one give what PyTorch's attention does. Returns the largest
    difference, or None."""
    around = steps.of(probe.around.step)
    return _moved(_torchs(probe.around), around.with_outputs(probe.around, probe.step, outputs), 10)


@lru_cache(maxsize=64)
def _torchs(probe):
    (outcome,) = expect(probe).outcomes
    return outcome.output


def _moved(one, other, times=1):
    difference = (one.to(torch.float64) - other.to(torch.float64)).abs()
    bound = times * LAW_TOLERANCE * (1 + one.to(torch.float64).abs())
    return None if bool((difference <= bound).all()) else float(difference.nan_to_num(0).max())


LAWS = {"no leak": no_leak, "permutation": permutation, "constant": constant, "whole": whole}
