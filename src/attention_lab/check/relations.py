"""How wrong numbers stand to the right ones, where that helps and names no mistake."""

import torch

from attention_lab.check.numbers import close

NEAR = 1e-4


def relation(got, right):
    """Return (seen, means, look) for the first relation that holds between two tensors of one
    shape, or None. Seen ends a sentence that says how many numbers are wrong."""
    got, right = got.double(), right.double()
    if not (got.isfinite().all() and right.isfinite().all()) or got.numel() < 2:
        return None
    return next(filter(None, (find(got, right) for find in (_factor, _offset, _places))), None)


def _factor(got, right):
    factor = float((got * right).sum() / (right * right).sum())
    short_of_one = abs(factor - 1)
    if factor == 0 or not close(got, factor * right, min(NEAR, short_of_one / 10)):
        return None
    digits = 3 if short_of_one > 0.005 else 6
    return (
        f": each is {factor:.{digits}g} times what it should be",
        "a factor is missing or too much.",
        "what you multiply and divide by.",
    )


def _offset(got, right):
    offset = float((got - right).mean())
    if not close(got - right, torch.full_like(right, offset), min(NEAR, abs(offset) / 10)):
        return None
    return (
        f": each is off by {offset:.3g}",
        "the same number is added everywhere.",
        "every plus and minus.",
    )


def _places(got, right):
    if not close(got.flatten().sort().values, right.flatten().sort().values, 1e-6):
        return None
    return (
        ": the right ones are there, in other places",
        "nothing is computed wrongly, but numbers end up where they do not belong.",
        "the order of the axes wherever you cut, swap, flip or join them.",
    )
