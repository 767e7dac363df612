"""``explore``: a small grid of results, so that sliders work without a kernel."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterable

import numpy as np

from attention_lab.heatmap.scene import Control, Frame, Scene
from attention_lab.heatmap.show import Heatmap, read_head
from attention_lab.heatmap.weights import above_diagonal, looks_causal, read_heads

# What a function's options are tried at, unless the caller says otherwise.
USUAL = {
    "temperature": (0.25, 0.5, 1.0, 2.0, 4.0),
    "causal": (False, True),
    "seed": (0, 1, 2, 3, 4),
}
MOST_FRAMES = 200


def explore(fn: Callable, tokens, *, head: int = 0, title: str | None = None, **options) -> Heatmap:
    """Show what ``fn`` gives for every combination of its options.

    ``fn(tokens, **options)`` takes a list of T words and returns weights (H, T, T) or
    (1, H, T, T). ``options``: for each of its keyword arguments the values to try, numbers
    (a slider), booleans (a toggle) or strings (a choice). Without any, those of ``temperature``,
    ``causal`` and ``seed`` that ``fn`` takes. ``tokens``: words, or a sentence to split.

    Raises what ``fn`` raises; ValueError or TypeError for what is no set of heads.
    """
    words = read_words(tokens)
    controls = read_options(fn, options)
    return Heatmap(grid(fn, words, controls, compute, head, title))


def grid(fn, words, controls, compute_frame, head: int, title: str | None) -> Scene:
    """A scene with the frame of every combination of the controls' values."""
    count = int(np.prod([len(control.values) for control in controls]))
    if count > MOST_FRAMES:
        raise ValueError(
            f"That is {count} combinations, more than {MOST_FRAMES}: give fewer values."
        )
    names = [control.name for control in controls]
    combinations = itertools.product(*(control.values for control in controls))
    frames = [
        compute_frame(fn, words, dict(zip(names, values, strict=True))) for values in combinations
    ]
    heads = {len(frame.weights) for frame in frames if not frame.error}
    if len(heads) > 1:
        raise ValueError(f"The number of heads must stay the same; here it is one of {heads}.")
    return Scene(
        frames=tuple(frames),
        queries=words,
        keys=words,
        controls=controls,
        head=read_head(head, heads.pop()) if heads else 0,
        title=title or "Attention weights",
    )


def compute(fn: Callable, words: tuple[str, ...], options: dict) -> Frame:
    """One frame: the weights ``fn`` gives for ``words``."""
    weights = read_heads(fn(list(words), **options))
    if len(weights) > 1 or weights.shape[-2:] != (len(words),) * 2:
        raise ValueError(
            f"For {len(words)} tokens the function must return weights (H, T, T) with "
            f"T = {len(words)}; it returned shape {weights.shape}."
        )
    masked = weights[0] == -np.inf
    if options.get("causal", looks_causal(weights)):
        masked = masked | above_diagonal(*masked.shape[-2:])
    return Frame(weights[0], masked)


def read_words(tokens) -> tuple[str, ...]:
    words = tuple(tokens.split() if isinstance(tokens, str) else map(str, tokens))
    if not words:
        raise ValueError("There are no words to look at: give at least one.")
    return words


def read_options(fn: Callable, options: dict) -> tuple[Control, ...]:
    """A control for each option, starting at the function's own default where it is listed."""
    if not callable(fn):
        raise TypeError(f"The first argument must be a function, not {type(fn).__name__}.")
    parameters = inspect.signature(fn).parameters
    options = options or {name: USUAL[name] for name in USUAL if name in parameters}
    controls = []
    for name, values in options.items():
        values = _read_values(name, values)
        default = parameters[name].default if name in parameters else None
        controls.append(Control(name, values, values.index(default) if default in values else 0))
    return tuple(controls)


def _read_values(name: str, values) -> tuple:
    values = tuple(values) if isinstance(values, Iterable) and not isinstance(values, str) else ()
    kinds = {bool if isinstance(v, bool) else str if isinstance(v, str) else float for v in values}
    numbers = all(isinstance(v, (str, int, float, np.number)) for v in values)
    if len(kinds) != 1 or not numbers:
        raise TypeError(f"{name} needs a list of values: all numbers, all booleans or all strings.")
    return values
