"""What a heatmap shows, as plain data: everything else in this package draws or describes it.

Axes: H heads, T query tokens, S key tokens.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Frame:
    """One set of heads.

    ``weights`` is (H, T, S) float64, ``masked`` (H, T, S) bool: True where a query may not look.
    ``labels``: what each head does, in words; without them the weights themselves are asked.
    A frame that could not be computed has an ``error`` to show instead, and no heads. Of a
    ``quiet`` one nothing is said to be wrong: the reader is to find it.
    """

    weights: np.ndarray
    masked: np.ndarray
    error: str | None = None
    labels: tuple[str, ...] | None = None
    quiet: bool = False

    @property
    def span(self) -> tuple[float, float]:
        """The lowest and the highest value of the colours: 0 and 1, but for what is no weight."""
        finite = self.weights[np.isfinite(self.weights)]
        low, high = finite.min(initial=0), finite.max(initial=0)
        return (float(low), float(high)) if low < 0 or high > 1.001 else (0.0, 1.0)

    @classmethod
    def failed(cls, error: str) -> Frame:
        return cls(np.empty((0, 1, 1)), np.empty((0, 1, 1), bool), error=error)


@dataclass(frozen=True)
class Control:
    """A choice the reader has: a variant, a batch entry, a temperature.

    Values are strings, numbers or booleans; ``start`` is the index of the first one shown.
    """

    name: str
    values: tuple
    start: int = 0


@dataclass(frozen=True)
class Scene:
    """All frames of one heatmap and what surrounds them.

    ``frames`` has one entry for each combination of the controls' values, the last control
    running fastest. ``compare`` is the number of a second head, or the name of a control and
    the index of one of its values, or None. ``row`` is the query that is read first.
    """

    frames: tuple[Frame, ...]
    queries: tuple[str, ...]
    keys: tuple[str, ...]
    controls: tuple[Control, ...] = ()
    head: int = 0
    compare: int | tuple[str, int] | None = None
    row: int = -1
    title: str = "Attention weights"

    def __post_init__(self):
        combinations = math.prod(len(control.values) for control in self.controls)
        if len(self.frames) != combinations:
            raise ValueError(f"{len(self.frames)} frames for {combinations} combinations.")

    @property
    def shown(self) -> Frame:
        """The frame seen first."""
        return self._frame({})

    def close_ups(self, head: int) -> list[tuple[str, Frame, int]]:
        """What stands large: ``head`` of the frame seen first, and what it is compared with.

        Each is a name, a frame and the number of a head in it.
        """
        if isinstance(self.compare, int):
            return [(f"head {h}", self.shown, h) for h in dict.fromkeys((head, self.compare))]
        if self.compare is None or self.compare[0] not in {c.name for c in self.controls}:
            return [(f"head {head}", self.shown, head)]
        name, index = self.compare
        control = next(control for control in self.controls if control.name == name)
        return [
            (f"head {head}, {value_name(control, control.values[i])}", self._frame({name: i}), head)
            for i in (control.start, index)
        ]

    def _frame(self, chosen: dict[str, int]) -> Frame:
        """The frame of these values of controls, and of the first ones of all others."""
        index = 0
        for control in self.controls:
            index = index * len(control.values) + chosen.get(control.name, control.start)
        return self.frames[index]

    @property
    def frame_names(self) -> list[str]:
        """A name for each frame, in the order of ``frames``: ``"PyTorch, causal on"``."""
        names = [""]
        for control in self.controls:
            values = [value_name(control, value) for value in control.values]
            names = [f"{name}, {value}".lstrip(", ") for name in names for value in values]
        return names


def value_name(control: Control, value) -> str:
    """How a control's value reads in a sentence."""
    if isinstance(value, bool):
        return f"{control.name} {'on' if value else 'off'}"
    return value if isinstance(value, str) else f"{control.name} {value:g}"
