"""The trials of every step."""

from itertools import chain

from attention_lab.check import steps
from attention_lab.check.draw import Draw
from attention_lab.observation import Probe


def probes(step: str, seed: int, hidden: bool = False) -> tuple[Probe, ...]:
    """Return the probes of `step`: the visible ones, then the hidden ones if asked for.

    Raises:
        ValueError: there is no such step.
    """
    draw, tried = Draw(seed), steps.of(step)
    inside = (whole.around(tried, draw) for whole in steps.GRADED if hidden)
    return (*tried.probes(draw, hidden), *chain.from_iterable(inside))
