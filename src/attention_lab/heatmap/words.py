"""Heads and tokens in words."""

from __future__ import annotations

from collections import Counter

import numpy as np

from attention_lab.heatmap.diagnose import diagnose
from attention_lab.heatmap.scene import Frame, Scene
from attention_lab.heatmap.weights import heads_are_weights

SEPARATORS = frozenset({"[SEP]", "</s>", "<eos>", "<|endoftext|>", ".", ",", ";"})
# A head has a job when at least half of its weight, on average over queries, goes to it.
_JOB = 0.5
# "same word" includes the token itself, so it must beat "itself" by more than noise.
_CLEARLY_MORE = 0.1
_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
_VISIBLE = str.maketrans({"\n": "⏎", "\t": "⇥", " ": "␣"})


def tell_apart(tokens: tuple[str, ...]) -> list[str]:
    """Labels for tokens: a repeated word is numbered, white space is made visible.

    >>> tell_apart(("the", "cat", "the"))
    ['the₁', 'cat', 'the₂']
    """
    times, seen, labels = Counter(tokens), Counter(), []
    for token in tokens:
        seen[token] += 1
        number = str(seen[token]).translate(_SUBSCRIPTS) if times[token] > 1 else ""
        labels.append((token.translate(_VISIBLE) or "∅") + number)
    return labels


def shorten(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"


def name_heads(frame: Frame, queries: tuple[str, ...], keys: tuple[str, ...]) -> list[str]:
    """A label for each head: its own, or the job most of its weight does, or how far it spreads.

    >>> frame = Frame(np.eye(3)[None], np.zeros((1, 3, 3), bool))
    >>> name_heads(frame, ("a", "b", "c"), ("a", "b", "c"))
    ['itself 100 %']
    """
    if frame.labels is not None:
        return list(frame.labels)
    shares = _shares(frame, queries, keys)
    fine = heads_are_weights(frame.weights)
    spread = spread_in_bits(frame.weights)
    return [
        _job({job: share[h] for job, share in shares.items()}, spread[h])
        if fine[h]
        else _fault(head)
        for h, head in enumerate(frame.weights)
    ]


def spread_in_bits(weights: np.ndarray) -> np.ndarray:
    """Mean entropy of the rows of each head: weights (H, T, S) to (H,), in bits."""
    positive = np.where(weights > 0, weights, 1)
    return -(positive * np.log2(positive)).sum(-1).mean(-1)


def summarise(scene: Scene) -> str:
    """The heatmap in words, for a terminal, a screen reader, or a page without scripts."""
    frame = scene.shown
    if frame.error:
        return f"{scene.title}: {frame.error}"
    H, T, S = frame.weights.shape
    lines = [f"{scene.title}: {_count(H, 'head')}, {_sizes(T, S)}"]
    names = name_heads(frame, scene.queries, scene.keys)
    lines += [f"  head {h}: {name}" for h, name in enumerate(names)]
    lines += [f"  ⚠ {note}" for note in diagnose(frame)]
    if len(scene.frames) > 1:
        lines.append(f"  (of {len(scene.frames)} pictures: {scene.frame_names[0]} …)")
    return "\n".join(lines)


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def _sizes(T: int, S: int) -> str:
    return _count(T, "token") if T == S else f"{T} query and {S} key tokens"


def _fault(head: np.ndarray) -> str:
    """Why these (T, S) are no weights."""
    if (head == -np.inf).all():
        return "all masked"
    if not np.isfinite(head[head != -np.inf]).all():
        return "has NaN"
    low, high = head[np.isfinite(head)].min(), head.max()
    return f"{low:.1f} to {high:.1f}" if low < 0 or high > 1.001 else "sums are not 1"


def _job(shares: dict[str, float], spread: float) -> str:
    job = max(shares, key=shares.__getitem__, default=None)
    if job and shares[job] >= _JOB:
        return f"{job} {shares[job]:.0%}".replace("%", " %")
    return f"spread {spread + 0:.1f} bits"


def _shares(frame: Frame, queries: tuple, keys: tuple) -> dict[str, np.ndarray]:
    """For each job that can be told here, the share (H,) of weight that does it."""
    may_look = ~frame.masked
    has_choice = may_look.sum(-1) > 1  # (H, T)
    has_choice |= ~has_choice.any(-1, keepdims=True)
    shares = {}
    for job, pattern in _patterns(queries, keys).items():
        rows = (may_look & pattern).any(-1) & has_choice
        if rows.any(-1).all():
            done = np.where(pattern, frame.weights, 0).sum(-1)
            shares[job] = np.where(rows, done, 0).sum(-1) / rows.sum(-1)
    if {"itself", "same word"} <= shares.keys():
        clear = shares["same word"] > shares["itself"] + _CLEARLY_MORE
        shares["same word"] = np.where(clear, shares["same word"], 0)
    return shares


def _patterns(queries: tuple, keys: tuple) -> dict[str, np.ndarray]:
    """Where (T, S) the weight of a head with that job lies; the most specific job first."""
    T, S = len(queries), len(keys)
    patterns = {}
    if queries == keys:
        patterns["itself"] = np.eye(T, dtype=bool)
        patterns["previous token"] = np.eye(T, k=-1, dtype=bool)
        patterns["next token"] = np.eye(T, k=1, dtype=bool)
    patterns["first token"] = np.broadcast_to(np.arange(S) == 0, (T, S))
    is_separator = np.array([key in SEPARATORS for key in keys])
    if is_separator.any():
        patterns["separator"] = np.broadcast_to(is_separator, (T, S))
    patterns["same word"] = np.array(queries, object)[:, None] == np.array(keys, object)
    return patterns
