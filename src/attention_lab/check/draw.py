"""Sizes and numbers that trials are made of, and other ways to lay them out.

Numbers come from a generator of their own, so that neither the notebook's seed nor the learner's
draws touch them. Weights and biases are never zero.
"""

import math
from dataclasses import dataclass, fields, is_dataclass, replace

import torch
from torch import Tensor, nn

from attention_lab.observation import Layer

CPU, THERE = torch.device("cpu"), torch.device("meta")


@dataclass(frozen=True)
class Sizes:
    """B batch, T tokens, d_model features, H heads."""

    B: int
    T: int
    d_model: int
    H: int

    @property
    def d_head(self):
        return self.d_model // self.H


DISTINCT = Sizes(3, 7, 30, 5)
OTHER = Sizes(2, 9, 12, 3)
ALL_ALIKE = Sizes(4, 4, 16, 4)  # any confusion of axes runs here, and its numbers name it
LESSON = Sizes(2, 5, 16, 4)  # the example of the text, for answers that fit nothing else
VISIBLE = (DISTINCT, OTHER)
SMALL = Sizes(2, 3, 8, 2)  # for visible trials of everything that is not a size
EDGES = (Sizes(2, 6, 5, 1), Sizes(4, 1, 6, 2), Sizes(1, 8, 8, 2), Sizes(2, 3, 4, 4))
LONG = Sizes(1, 1030, 2, 1)
HEADS_COUNTED = (2, 4, 8)
LARGE = 1e4
HUGE = 1e6


class Draw:
    """Numbers from a generator of its own."""

    def __init__(self, seed):
        self.generator = torch.Generator("cpu").manual_seed(seed)

    def normal(self, *shape, scale=1.0):
        numbers = torch.randn(shape, generator=self.generator, dtype=torch.float64, device="cpu")
        return (scale * numbers).to(torch.float32)

    def layer(self, d_model):
        """Weights that keep the spread of what goes through, with a bias that matters."""
        weight = self.normal(d_model, d_model, scale=1.4 / math.sqrt(d_model))
        return Layer(weight, self.normal(d_model, scale=0.5))

    def layers(self, d_model):
        return tuple(self.layer(d_model) for _ in range(4))

    def mask(self, T):
        """An additive mask that is not causal: about half closed, the diagonal and a whole row
        open, where one sees what is done to open scores."""
        blocked = torch.rand(T, T, generator=self.generator, device="cpu") < 0.5
        blocked.fill_diagonal_(False)
        blocked[int(torch.randint(T, (), generator=self.generator))] = False
        return torch.zeros(T, T, device="cpu").masked_fill(blocked, -math.inf)

    def masks(self, T):
        """Additive masks that code may not count on, by what they are."""
        one_open = torch.full((T, T), -math.inf, device="cpu")
        one_open[torch.arange(T, device="cpu"), self.permutation(T)] = 0
        column = torch.zeros(T, T, device="cpu")
        column[:, self.whole(0, T - 1)] = -math.inf
        return {
            "a mask that closes nothing": torch.zeros(T, T, device="cpu"),
            "a mask that leaves one key to each query": one_open,
            "a mask that closes one key to all": column,
        }

    def whole(self, low, high):
        """A whole number from low to high."""
        return int(torch.randint(low, high + 1, (), generator=self.generator, device="cpu"))

    def fresh(self):
        """Sizes whose T and d_head are in no other trial, so that nothing of them is kept yet."""
        H = self.whole(2, 3)
        return Sizes(self.whole(2, 3), self.whole(25, 27), self.whole(9, 11) * H, H)

    def related(self):
        """Sizes of every order, primes, powers of two, more than anybody counts on."""
        prime, power = (11, 13, 17)[self.whole(0, 2)], 2 ** self.whole(3, 4)
        return (
            Sizes(self.whole(8, 11), 3, 6, 2),  # B > T, d_model
            Sizes(2, self.whole(18, 24), 6, 2),  # T > d_model
            Sizes(2, 4, 2 * self.whole(5, 7), 2),  # d_head > T
            Sizes(3, prime, 35, 5),
            Sizes(4, power, 2 * power, 2),  # T = d_head
            Sizes(1, 2 ** self.whole(6, 7), 8, 2),
            Sizes(2, self.whole(67, 127), 8, 2),
        )

    def special(self, *shape):
        """Numbers that code may ask for, by what they are. The last axis but one counts tokens."""
        numbers = self.normal(*shape)
        whole = torch.randint(-2, 3, shape, generator=self.generator, device="cpu")
        alike = numbers.clone()
        alike[..., 1:, :] = numbers[..., :1, :]
        alike[..., -1, :] = numbers[..., -1, :]
        holes = numbers * (whole > 0)
        holes[..., 0, :] = 0
        return {
            "whole numbers": whole.float(),
            "many zeros": holes,
            "nothing but zeros": torch.zeros_like(numbers),
            "equal tokens": alike,
            "numbers above 0": numbers.abs() + 0.1,
            "numbers below 0": -numbers.abs() - 0.1,
        }

    def permutation(self, T):
        """A permutation of T tokens that leaves no token where it was."""
        return (torch.arange(T) + 1 + int(torch.randint(T - 1, (), generator=self.generator))) % T


def transposed(value):
    """The same numbers, laid out in memory with the order of the axes reversed."""
    if not isinstance(value, Tensor):
        return value
    order = tuple(reversed(range(value.dim())))
    return value.permute(order).contiguous().permute(order)


def sliced(value):
    """The same numbers, every second cell of a tensor twice as wide."""
    if not isinstance(value, Tensor):
        return value
    wide = torch.zeros(*value.shape[:-1], 2 * value.shape[-1], dtype=value.dtype, device="cpu")
    wide[..., ::2] = value
    return wide[..., ::2]


def elsewhere(call):
    """The same call on another device."""
    args = tuple(THERE if isinstance(arg, torch.device) else arg for arg in call.args)
    return replace(call, args=args, elsewhere=True)


def in_float64(value):
    """Return plain data with every float32 tensor and dtype made float64; nothing is shared."""
    if isinstance(value, Tensor):
        return value.detach().to(torch.float64, copy=True) if value.is_floating_point() else value
    if value is torch.float32:
        return torch.float64
    if isinstance(value, tuple):
        return tuple(in_float64(item) for item in value)
    if is_dataclass(value):
        changed = {f.name: in_float64(getattr(value, f.name)) for f in fields(value)}
        return replace(value, **changed)
    return value


class _Function(Layer):
    def __call__(self, x):
        return nn.functional.linear(x, self.weight, self.bias)


def as_function(value):
    """Return a `Layer` as something to call, with its weight and bias; other values as they are."""
    return _Function(value.weight, value.bias) if isinstance(value, Layer) else value
