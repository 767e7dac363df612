"""Measures, for each relation between words, how much of its weight every head gives to it."""

from __future__ import annotations

from collections import defaultdict
from html import escape

import torch
from torch import Tensor

from attention_lab.pretrained.model import HEADS
from attention_lab.pretrained.reading import Live
from attention_lab.pretrained.relations import Case, Rivals, pronouns, relations


def measure(minilm: Live) -> dict[str, Tensor]:
    """For each relation a share (LAYERS, HEADS), 0 to 1.

    For most, the mean weight from a word to the one it stands in the relation with. For "he, she
    → name", in how many sentences the right name gets more weight than the other one.
    """
    shares = {name: _weight(minilm, cases) for name, cases in relations().items()}
    shares["he, she → name"] = _wins(minilm, pronouns())
    return shares


class Tally(str):
    """A table in words, folded in a notebook: it is the answer to what is asked above it."""

    def _repr_html_(self):
        return f"<details><summary>The heads, measured</summary><pre>{escape(self)}</pre></details>"


def tally(minilm: Live) -> Tally:
    """The measure in words: for each relation the two best heads, and the middle one of all."""
    lines = [f"{'relation':20}{'best head':>10}{'':7}{'next best':>10}{'':7}{'median':>8}"]
    for name, share in measure(minilm).items():
        best, second = share.flatten().topk(2).indices.tolist()
        cells = "".join(f"{_label(i):>10}{share.flatten()[i]:7.0%}" for i in (best, second))
        lines.append(f"{name:20}{cells}{share.median():8.0%}")
    return Tally("\n".join(lines))


def _label(index: int) -> str:
    return f"L{index // HEADS}.H{index % HEADS}"


def _weight(minilm, cases: list[Case]) -> Tensor:
    found = []
    for case, weights in _read(minilm, cases):
        sources, targets = torch.tensor(case.pairs).T + 1  # after [CLS]
        found.append(weights[:, :, sources, targets])
    return torch.cat(found, -1).mean(-1)


def _wins(minilm, cases: list[Rivals]) -> Tensor:
    won = []
    for case, weights in _read(minilm, cases):
        row = weights[:, :, case.pronoun + 1]
        won.append(row[..., case.right + 1] > row[..., case.wrong + 1])
    return torch.stack(won).float().mean(0)


def _read(minilm, cases):
    """Each case with its weights (LAYERS, HEADS, T, T); sentences of one length go together."""
    by_length = defaultdict(list)
    for case in cases:
        by_length[len(case.words)].append(case)
    for group in by_length.values():
        ids = minilm.ids(*(" ".join(case.words) for case in group))
        yield from zip(group, minilm.model.weights(ids), strict=True)
