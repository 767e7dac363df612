"""A toy task with three jobs at once, each of which wants to look at another token.

A story is twelve tokens. Six people come twice each, in any order. Where somebody comes for the
first time one sees their colour; the second time it is hidden. Every token must answer:

================== ========================================= =======================
job                question                                  asked of
================== ========================================= =======================
previous name      who comes just before me?                 all but the first token
next name          who comes just after me?                  all but the last token
colour             which colour had I, the first time?       tokens with no colour
================== ========================================= =======================

Axes: B stories, T tokens, J jobs.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

NAMES = ("Ada", "Ben", "Cleo", "Dan", "Eva", "Finn", "Gus", "Hal")
COLOURS = ("red", "blue", "green", "gold", "pink", "grey")
JOBS = ("previous name", "next name", "colour")
# How many answers there are to choose from, job by job.
CHOICES = (len(NAMES), len(NAMES), len(COLOURS))
T = 12

HIDDEN = len(COLOURS)
# Where nothing is asked; `cross_entropy` leaves this target out by itself.
UNASKED = -100


@dataclass(frozen=True)
class Stories:
    """names, colours: (B, T) numbers, `HIDDEN` for no colour. answers: (J, B, T), or `UNASKED`."""

    names: Tensor
    colours: Tensor
    answers: Tensor

    @property
    def wanted(self) -> Tensor:
        """(B, J, T, T) bool: True at the token that a job needs to look at."""
        B = len(self.names)
        ones = torch.ones(T - 1, dtype=torch.bool)
        before, after = (torch.diag(ones, side).expand(B, T, T) for side in (-1, 1))
        return torch.stack([before, after, _earlier_self(self.names)], 1)

    def tokens(self, story: int = 0) -> list[str]:
        """The tokens of a story, in words."""
        pairs = zip(self.names[story].tolist(), self.colours[story].tolist(), strict=True)
        return [f"{NAMES[name]} {(*COLOURS, '?')[colour]}" for name, colour in pairs]


def draw(B: int, generator: torch.Generator) -> Stories:
    """B new stories."""
    people = torch.rand(B, len(NAMES), generator=generator).argsort(-1)[:, : T // 2]
    order = torch.rand(B, T, generator=generator).argsort(-1)
    names = torch.cat([people, people], -1).gather(-1, order)  # (B, T)
    colour_of = torch.randint(len(COLOURS), (B, len(NAMES)), generator=generator)
    true_colours = colour_of.gather(-1, names)  # (B, T)

    again = _earlier_self(names).any(-1)  # (B, T)
    nobody = torch.full((B, 1), UNASKED)
    answers = [
        torch.cat([nobody, names[:, :-1]], -1),
        torch.cat([names[:, 1:], nobody], -1),
        torch.where(again, true_colours, UNASKED),
    ]
    return Stories(names, torch.where(again, HIDDEN, true_colours), torch.stack(answers))


def _earlier_self(names: Tensor) -> Tensor:
    """(B, T, T) bool: True where the key is the same person, earlier."""
    return (names[:, :, None] == names[:, None, :]).tril(-1)


def shares(weights: Tensor, stories: Stories) -> Tensor:
    """How much of each head's weight lies where each job wants it: (H, J), 0 to 1.

    weights: (B, H, T, T). Only rows that a job asks something of count for that job.
    """
    wanted = stories.wanted.to(weights.dtype)
    return torch.einsum("bhts,bjts->hj", weights, wanted) / wanted.sum((0, 2, 3))
