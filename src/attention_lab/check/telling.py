"""Sizes at which ways to be wrong come apart: a suspicion has to hold there, too."""

from functools import lru_cache

from attention_lab.check import steps
from attention_lab.check.draw import Draw, Sizes
from attention_lab.check.references import expect

SIZES = (
    Sizes(2, 3, 12, 4),  # T = d_head
    Sizes(3, 3, 20, 2),  # B = T
    Sizes(2, 4, 20, 4),  # H = T
    Sizes(3, 5, 12, 3),  # B = H
    Sizes(2, 5, 9, 3),  # H = d_head
    Sizes(4, 6, 12, 3),  # B = d_head
    Sizes(2, 12, 12, 4),  # T = d_model
    Sizes(1, 5, 12, 4),
    Sizes(2, 1, 12, 3),
    Sizes(2, 5, 4, 1),
    Sizes(2, 5, 3, 3),
)


@lru_cache(maxsize=16)
def telling(name):
    """Return trials of a step at these sizes and what a right answer shows on them."""
    step = steps.of(name)
    if step not in steps.GRADED:
        return (), ()
    probes = tuple(step.at(Draw(number), sizes) for number, sizes in enumerate(SIZES))
    return probes, tuple(map(expect, probes))
