"""What is right, computed in float64."""

from attention_lab.check import steps
from attention_lab.check.draw import in_float64
from attention_lab.observation import Observation
from attention_lab.observation.observe import observe


def expect(probe) -> Observation:
    """Return what a right answer shows on `probe`, computed in float64."""
    return observe(steps.of(probe.step).right, in_float64(probe))
