"""Whether two answers to a step do the same on many random inputs."""

import random

import torch

from attention_lab.check import steps
from attention_lab.check.draw import Draw, Sizes, as_function
from attention_lab.check.steps.multi_head_attention import PROJECTIONS

SIZES = 20
INPUTS = 50  # at each of the sizes


@torch.no_grad()
def equal_on_random_inputs(step, one, other) -> bool:
    """Whether `one` and `other` agree on 1,000 random inputs of random small sizes."""
    numbers, draw = random.Random(0), Draw(0)
    for _ in range(SIZES):
        B, T, H, d_head = (numbers.randint(1, 5) for _ in range(4))
        sizes = Sizes(B, T, H * d_head, H)
        both = [one, other]
        if step == "MultiHeadAttention":
            layers = draw.layers(sizes.d_model)
            both = [_instance(answer, sizes, layers) for answer in both]
        for _ in range(INPUTS):
            args = _arguments(step, draw, sizes, numbers)
            results = [answer(*args) for answer in both]
            if not _same(*results):
                return False
    return True


def _arguments(step, draw, sizes, numbers):
    if step == "MultiHeadAttention":
        return draw.normal(sizes.B, sizes.T, sizes.d_model), numbers.random() < 0.5
    return [as_function(value) for value in steps.of(step).arguments(draw, sizes)]


def _instance(answer, sizes, layers):
    instance = answer(sizes.d_model, sizes.H)
    for name, layer in zip(PROJECTIONS, layers, strict=True):
        linear = getattr(instance, name)
        linear.weight.copy_(layer.weight)
        linear.bias.copy_(layer.bias)
    return instance


def _same(one, other):
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    same_kind = one.shape == other.shape and one.dtype == other.dtype
    return same_kind and torch.allclose(one, other, rtol=1e-6, atol=1e-6)
