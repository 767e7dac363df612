"""Trains a learner's attention class on the toy task."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attention_lab.learned import task
from attention_lab.look import head_weights
from attention_lab.observation.neutral import neutral_torch

D_MODEL = 32
STEPS = 400
BATCH = 64
# The highest learning rate of the schedule by number of heads: for each the best of those tried,
# see docs/finale.md.
RATES = {1: 1e-2, 2: 5e-3, 4: 2e-2}
# Accuracy from which a job counts as done.
SOLVED = 0.99


class Reader(nn.Module):
    """Reads stories with one layer of attention, and answers from what it has collected.

    There is no way round the attention: a token's answers come from its row of the output alone.
    """

    def __init__(self, attention_class: type[nn.Module], num_heads: int):
        super().__init__()
        self.names = nn.Embedding(len(task.NAMES), D_MODEL)
        self.colours = nn.Embedding(len(task.COLOURS) + 1, D_MODEL)
        self.places = nn.Embedding(task.T, D_MODEL)
        self.num_heads = num_heads
        self.attention = attention_class(D_MODEL, num_heads)
        self.answers = nn.ModuleList(nn.Linear(D_MODEL, choices) for choices in task.CHOICES)

    def embed(self, stories: task.Stories) -> Tensor:
        """The stories as vectors, (B, T, d_model)."""
        return self.names(stories.names) + self.colours(stories.colours) + self.places.weight

    def forward(self, stories: task.Stories) -> list[Tensor]:
        """Logits (B, T, choices) for each job."""
        collected = self.attention(self.embed(stories))  # (B, T, d_model)
        return [answer(collected) for answer in self.answers]

    def weights(self, stories: task.Stories) -> Tensor:
        """Who looks at whom: (B, H, T, T)."""
        with torch.no_grad():
            return head_weights(self.attention, self.num_heads, self.embed(stories))


@dataclass(frozen=True)
class Run:
    """A training, from its first to its last step.

    losses: one number a step. accuracy: a share of right answers for each job, on new stories.
    weights: (H, T, T) on the story `tokens`, "before" and "after" training. shares: (H, J), how
    much of each head's weight lies where each job wants it, on new stories, likewise.
    """

    num_heads: int
    seed: int
    parameters: int
    losses: list[float]
    accuracy: tuple[float, ...]
    tokens: list[str]
    weights: dict[str, Tensor]
    shares: dict[str, Tensor]

    @property
    def solved(self) -> bool:
        """All jobs are done."""
        return min(self.accuracy) >= SOLVED

    @property
    def loss(self) -> float:
        """The mean of the last ten losses."""
        last = self.losses[-10:]
        return sum(last) / len(last)


@neutral_torch()
def train(
    attention_class: type[nn.Module],
    num_heads: int,
    seed: int,
    *,
    steps: int = STEPS,
    rate: float | None = None,
    report: Callable[[int, float], None] = lambda step, loss: None,
) -> Run:
    """Train a new Reader. The same seed gives the same numbers; the caller's are left alone.

    rate: the highest learning rate; the default is the best known for that number of heads.
    report: called after each step with its number, from 1, and its loss.
    """
    generator = torch.Generator().manual_seed(seed)
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        reader = Reader(attention_class, num_heads)
    fresh = task.draw(1000, torch.Generator().manual_seed(1000 + seed))
    before = _look(reader, fresh)
    losses = _optimise(reader, steps, rate or RATES[num_heads], generator, report)
    after = _look(reader, fresh)
    return Run(
        num_heads,
        seed,
        sum(parameter.numel() for parameter in reader.parameters()),
        losses,
        _accuracy(reader, fresh),
        fresh.tokens(),
        {"before": before[0], "after": after[0]},
        {"before": before[1], "after": after[1]},
    )


def _optimise(reader, steps, rate, generator, report) -> list[float]:
    optimiser = torch.optim.Adam(reader.parameters(), lr=rate, fused=True)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, rate, total_steps=steps)
    losses = []
    for step in range(1, steps + 1):
        loss = _loss(reader, task.draw(BATCH, generator))
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
        losses.append(loss.item())
        report(step, losses[-1])
    return losses


def _loss(reader, stories) -> Tensor:
    """The mean over jobs of the cross-entropy, in nats."""
    pairs = zip(reader(stories), stories.answers, strict=True)
    losses = [
        F.cross_entropy(logits.flatten(0, 1), answers.flatten(), ignore_index=task.UNASKED)
        for logits, answers in pairs
    ]
    return torch.stack(losses).mean()


@torch.no_grad()
def _accuracy(reader, stories) -> tuple[float, ...]:
    """For each job, which share of what it asks is answered correctly."""
    pairs = zip(reader(stories), stories.answers, strict=True)
    return tuple(
        (logits.argmax(-1) == answers)[answers != task.UNASKED].float().mean().item()
        for logits, answers in pairs
    )


def _look(reader, stories) -> tuple[Tensor, Tensor]:
    """The weights (H, T, T) on the first story, and the shares (H, J) on all."""
    weights = reader.weights(stories)
    return weights[0], task.shares(weights, stories)
