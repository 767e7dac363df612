import pytest
import torch

from attention_lab.check import references, steps
from attention_lab.check.probes import probes


@pytest.mark.parametrize("step", steps.names())
def test_expectations_are_in_float64_and_never_fail(step):
    for probe in probes(step, 1):
        seen = references.expect(probe)
        assert seen.failure is None
        for outcome in seen.outcomes:
            assert outcome.failure is None
            first = outcome.output[0] if isinstance(outcome.output, tuple) else outcome.output
            assert first.dtype is torch.float64 or step == "causal_mask"
