"""A stranger's attention layer. Every shape is right; a number draws which of five faults it has.

stranger = Stranger(7)
print(stranger.code)  # its forward pass
stranger.look()       # its heads on the lesson's sentence, and the words that they collect
"""

from __future__ import annotations

import math
from dataclasses import replace
from hashlib import sha256

import torch
from torch import nn

from attention_lab import example

_RIGHT = """\
def forward(self, x, causal=False):
    B, T, _ = x.shape
    projections = (self.q_proj, self.k_proj, self.v_proj)
    q, k, v = (proj(x) for proj in projections)
    q, k, v = (
        part.view(B, T, self.num_heads, self.d_head).transpose(1, 2) for part in (q, k, v)
    )
    scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_head)
    future = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(diagonal=1)
    if causal:
        scores = scores.masked_fill(future, -math.inf)
    weights = scores.softmax(dim=-1)
    self.weights = weights  # kept, to be looked at
    mixed = (weights @ v).transpose(1, 2).reshape(B, T, self.d_model)
    return self.out_proj(mixed)
"""
# The faults by name: what they change in the forward pass, from one text to the other.
_EDITS = {
    "split": [
        ("view(B, T, self.num_heads, self.d_head).transpose(1, 2)",
         "view(B, self.num_heads, T, self.d_head)"),
    ],
    "axis": [("softmax(dim=-1)", "softmax(dim=-2)")],
    "late": [
        ("    if causal:\n        scores = scores.masked_fill(future, -math.inf)\n", ""),
        ("    self.weights",
         "    if causal:\n        weights = weights.masked_fill(future, 0)\n    self.weights"),
    ],
    "past": [("future = ", "past = "), ("triu(diagonal=1)", "tril(diagonal=-1)"),
             ("masked_fill(future", "masked_fill(past")],
    "merge": [("(weights @ v).transpose(1, 2).reshape", "(weights @ v).reshape")],
}  # fmt: skip
FAULTS = tuple(_EDITS)


class Layer(nn.Module):
    """What the stranger's layer is built of, without its forward pass."""

    def __init__(self, d_model, num_heads):
        super().__init__()
        self.d_model = d_model
        self.num_heads = num_heads
        self.d_head = d_model // num_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.out_proj = nn.Linear(d_model, d_model)


def fault_of(number: int) -> str:
    """The name of the fault that a number draws.

    Raises:
        TypeError: it is not a whole number.
    """
    if not isinstance(number, int) or isinstance(number, bool):
        raise TypeError(f"my_number is a whole number, not {number!r}")
    return FAULTS[sha256(str(number).encode()).digest()[0] % len(FAULTS)]


class Stranger:
    """The layer that a number draws. code: the text of its forward pass."""

    def __init__(self, number: int):
        self.code = _RIGHT
        for old, new in _EDITS[fault_of(number)]:
            self.code = self.code.replace(old, new)

    def layer(self, d_model: int, num_heads: int) -> Layer:
        """A new instance, whose forward pass keeps its `weights`, (B, H, T, T)."""
        names = {"math": math, "torch": torch}
        exec(self.code, names)
        return type("BrokenAttention", (Layer,), {"forward": names["forward"]})(d_model, num_heads)

    def look(self):
        """Print which words each slice of the output holds, and show the heads, with all tokens in
        view and with the future closed; the weights are those of the lesson's sentence."""
        from attention_lab.heatmap import show_heads  # takes longer than a grader has use for

        layer = self.layer(example.d_model, example.num_heads)
        example.fill(layer)
        shown = {}
        with torch.no_grad():
            for name, causal in (("all tokens", False), ("future closed", True)):
                output = layer(example.x, causal)
                shown[name] = layer.weights
                if not causal:
                    _print_words(output)
        heads = show_heads(
            shown, example.tokens, compare="future closed", causal=False, title="A stranger's heads"
        )
        frames = tuple(replace(frame, quiet=True) for frame in heads.scene.frames)
        heads.scene = replace(heads.scene, frames=frames)  # what is wrong is for the learner to see
        return heads


def _print_words(output):
    print(f"{'token':>8}   {'heads 1 + 2':18}{'(empty)':14}{'head 0':14}head 3")
    for token, words in zip(example.tokens, example.words_found(output), strict=True):
        met, empty, previous, following = words
        print(f"{token:>8}   {met:18}{empty:14}{previous:14}{following}")
