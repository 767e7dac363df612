"""A scene as JSON that a browser can read, small enough for a notebook's output.

A value travels as a signed 16-bit code: equal steps of 0.002 up to 0.2, steps of half a percent
beyond, so what is read, in three decimals, is within 0.001 or half a percent of what was computed,
whatever its size. Small pictures take finer steps. High and low bytes are kept apart, deflated,
and written in base64. ``assets/codec.js`` reads it.
"""

from __future__ import annotations

import base64
import json
import zlib
from typing import NamedTuple

import numpy as np

from attention_lab.heatmap import palette
from attention_lab.heatmap.diagnose import diagnose
from attention_lab.heatmap.scene import Control, Frame, Scene
from attention_lab.heatmap.weights import tolerance
from attention_lab.heatmap.words import name_heads, tell_apart


class Steps(NamedTuple):
    """Between codes: equal steps up to the knee, equal ratios (1 + ratio) beyond."""

    equal: float
    ratio: float


COARSE, FINE = Steps(0.002, 0.005), Steps(0.0002, 0.001)
KNEE = 0.2
MASKED, NAN, LARGEST = -32768, 32767, 32766
_FEW_VALUES = 30_000


def to_json(scene: Scene) -> str:
    """The scene as JSON that is also safe inside a ``<script>`` element."""
    text = json.dumps(_as_dict(scene), separators=(",", ":"), ensure_ascii=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def pack(frames: tuple[Frame, ...], steps: Steps) -> str:
    """The values of all frames, one after the other, in base64."""
    codes = [np.where(f.masked, MASKED, encode(f.weights, steps)).ravel() for f in frames]
    low_and_high = np.concatenate(codes).astype("<i2").view(np.uint8).reshape(-1, 2)
    # Many weights repeat a value, if anything, hardly ever a run of values: looking for runs of one
    # byte alone takes a twentieth of the time and makes them smaller.
    deflate = zlib.compressobj(9, strategy=zlib.Z_RLE if steps is COARSE else zlib.Z_FILTERED)
    deflated = deflate.compress(low_and_high.T.tobytes()) + deflate.flush()
    return base64.b64encode(deflated).decode()


def encode(values: np.ndarray, steps: Steps) -> np.ndarray:
    """Codes of ``values``, finite or not."""
    size = np.abs(np.nan_to_num(values, nan=0.0, posinf=np.inf, neginf=-np.inf))
    ratios = np.log(np.maximum(size, KNEE) / KNEE) / np.log1p(steps.ratio)
    code = np.minimum(np.minimum(size, KNEE) / steps.equal + ratios, LARGEST).round()
    return np.where(np.isnan(values), NAN, np.sign(values) * code)


def _as_dict(scene: Scene) -> dict:
    compare = scene.compare
    if isinstance(compare, tuple):
        name, index = compare
        names = [control.name for control in scene.controls]
        compare = {"control": names.index(name), "index": index} if name in names else None
    elif compare is not None:
        compare = {"head": compare}
    few = sum(frame.weights.size for frame in scene.frames) <= _FEW_VALUES
    steps = FINE if few else COARSE
    return {
        "title": scene.title,
        "queries": tell_apart(scene.queries),
        "keys": tell_apart(scene.keys),
        "controls": [_control(control) for control in scene.controls],
        "frames": [_frame(frame, scene) for frame in scene.frames],
        "head": scene.head,
        "row": scene.row % max(len(scene.queries), 1),  # an empty sentence has no rows
        "compare": compare,
        "palette": {
            "light": palette.LIGHT,
            "dark": palette.DARK,
            "moreLight": palette.MORE_LIGHT,
            "moreDark": palette.MORE_DARK,
        },
        "steps": steps,
        "data": pack(scene.frames, steps),
    }


def _control(control: Control) -> dict:
    first = control.values[0]
    kind = "toggle" if isinstance(first, bool) else "choice" if isinstance(first, str) else "slider"
    values = [value if isinstance(value, str) else f"{value:g}" for value in control.values]
    return {"name": control.name, "kind": kind, "values": values, "start": control.start}


def _frame(frame: Frame, scene: Scene) -> dict:
    if frame.error:
        return {"heads": 0, "error": frame.error, "names": [], "notes": []}
    low, high = frame.span
    sums = np.where(frame.masked, 0, frame.weights).sum(-1)
    are_one = np.allclose(sums, 1, atol=tolerance(frame.weights) / 2)
    return {
        "heads": len(frame.weights),
        "span": [low, high],
        "names": name_heads(frame, scene.queries, scene.keys),
        "notes": diagnose(frame),
        # null: every row sums to 1
        "sums": None if are_one else _three_decimals(sums),
    }


def _three_decimals(sums: np.ndarray) -> list[float | None]:
    return [round(float(x), 3) if np.isfinite(x) else None for x in sums.ravel()]
