"""``show_heads``: every head of an attention layer at a glance, and any of them close up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from attention_lab.heatmap import page, picture
from attention_lab.heatmap.diagnose import diagnose
from attention_lab.heatmap.display import bundle
from attention_lab.heatmap.scene import Control, Frame, Scene
from attention_lab.heatmap.table import Table
from attention_lab.heatmap.weights import (
    above_diagonal,
    are_weights,
    looks_causal,
    make_causal,
    read_mask,
    read_tokens,
    read_variants,
)
from attention_lab.heatmap.words import summarise, tell_apart

# The causal toggle doubles what the page carries; beyond this many numbers it is left out.
_MOST_FOR_TOGGLE = 400_000


def show_heads(
    weights,
    tokens=None,
    *,
    mask=None,
    causal: bool | Mapping[str, bool] | None = None,
    head: int = 0,
    compare: int | str | None = None,
    row: int | None = None,
    title: str | None = None,
    labels=None,
) -> Heatmap:
    """Show attention weights head by head.

    ``weights``: (H, T, S) or (B, H, T, S), torch or numpy; or a dict of named variants
    (``{"yours": ..., "PyTorch": ...}``); or a list of layers; or what transformers hands over, also
    ``generate``; or a cache of TransformerLens. All have one shape.
    ``tokens``: T words; a pair ``(queries, keys)`` where T and S differ.
    ``mask``: (T, S), boolean with True where a query may not look, or additive (0 and -inf); or the
    ``attention_mask`` (B, S) of a padded batch, with ones where there is a token.
    ``causal``: True if the weights were made with a causal mask, which the picture then checks;
    False if not; None looks for itself, and where the weights have no mask, the page has a
    toggle that puts one on. A dict says it for each variant.
    ``head``: the head shown large at first. ``compare``: what stands beside it, another head's
    number or a variant's name. ``row``: the query whose row is read at first (default: the last).
    ``labels``: what each head does, H strings, or a dict of them by variant; without it, heads
    are labelled by what their weights look like.

    Raises TypeError or ValueError, saying what to pass, for anything that is no set of heads.

    >>> show_heads(np.eye(3)[None], ["a", "b", "c"], causal=False)
    Attention weights: 1 head, 3 tokens
      head 0: itself 100 %
    """
    variants = read_variants(weights)
    B, H, T, S = next(iter(variants.values())).shape
    queries, keys = read_tokens(tokens, T, S, B)
    masked = None if mask is None else read_mask(mask, (B, H, T, S))
    modes, frames = _modes_and_frames(variants, masked, _read_causal(causal, variants, T, S))
    if labels is not None:
        frames = _with_labels(frames, labels, tuple(variants), H)
    controls = [
        Control("variant", tuple(variants)),
        Control("causal", modes),
        Control("batch", tuple(range(B))),
    ]
    scene = Scene(
        frames=tuple(frames),
        queries=queries,
        keys=keys,
        controls=tuple(control for control in controls if len(control.values) > 1),
        head=read_head(head, H),
        compare=_read_compare(compare, H, tuple(variants)),
        row=_read_place("row", T - 1 if row is None else row, T),
        title=title or "Attention weights",
    )
    return Heatmap(scene)


class Heatmap:
    """A heatmap a notebook displays; in words in a terminal."""

    def __init__(self, scene: Scene):
        self.scene = scene

    def __repr__(self):
        return summarise(self.scene)

    def _repr_mimebundle_(self, include=None, exclude=None):
        image = picture.png(self.scene)
        return bundle(repr(self), image, lambda: self._html(image))

    def _html(self, image: bytes) -> str:
        return page.heatmap_html(self.scene, image)

    def to_html(self, path) -> Path:
        """Write the interactive picture to ``path``, one file that needs nothing else."""
        path = Path(path)
        html = page.document(page.heatmap_html(self.scene), self.scene.title)
        path.write_text(html, encoding="utf-8")
        return path

    def png(self, path) -> Path:
        """Write the still picture to ``path``."""
        path = Path(path)
        path.write_bytes(picture.png(self.scene))
        return path

    def table(self, head: int | None = None) -> Table:
        """The weights of one head as a table, of the frame shown first."""
        frame = self.scene.shown
        head = self.scene.head if head is None else read_head(head, len(frame.weights))
        values = np.where(frame.masked[head], np.nan, frame.weights[head])
        queries, keys = tell_apart(self.scene.queries), tell_apart(self.scene.keys)
        return Table(f"head {head}", queries, keys, values, frame.masked[head])

    def diagnose(self) -> list[str]:
        """What the picture proves to be wrong, one sentence each; empty if nothing."""
        found = []
        for name, frame in zip(self.scene.frame_names, self.scene.frames, strict=True):
            found += [f"{name}: {note}" if name else note for note in diagnose(frame)]
        return found


def read_head(head: int, H: int) -> int:
    return _read_place("head", head, H)


def _read_place(what: str, place: int, count: int) -> int:
    if not isinstance(place, (int, np.integer)) or isinstance(place, bool):
        raise TypeError(f"{what} must be a number, not {type(place).__name__}.")
    if not 0 <= place < count:
        raise ValueError(f"There is no {what} {place}: {what}s are numbered 0 to {count - 1}.")
    return int(place)


def _read_causal(causal, variants, T: int, S: int) -> dict[str, bool | None]:
    """For each variant whether it was made with a causal mask; None where that is not said."""
    said = dict(causal) if isinstance(causal, Mapping) else dict.fromkeys(variants, causal)
    if said.keys() != variants.keys():
        raise ValueError(f"causal must say True or False for each of {', '.join(variants)}.")
    if any(said.values()) and T != S:
        raise ValueError(f"causal=True needs as many queries as keys; here are {T} and {S}.")
    return said


def _modes_and_frames(variants: dict, masked, causal: dict):
    """The values of the causal toggle, and all frames: variant by mode by batch entry."""
    arrays = list(variants.values())
    future = above_diagonal(*arrays[0].shape[-2:])
    if masked is None and set(causal.values()) == {None}:
        causal = dict.fromkeys(variants, all(map(looks_causal, arrays)))
        twins = [] if all(causal.values()) else _causal_twins(arrays)
        if twins:
            pairs = zip(arrays, twins, strict=True)
            modes = [mode for full, cut in pairs for mode in ((full, None), (cut, future))]
            return (False, True), [frame for mode in modes for frame in _frames(*mode)]
    frames = []
    for name, array in variants.items():
        if causal[name]:
            frames += _frames(array, future if masked is None else future | masked)
        else:
            frames += _frames(array, masked)
    return (False,), frames


def _with_labels(frames: list[Frame], labels, names: tuple[str, ...], H: int) -> list[Frame]:
    """The frames, which come variant by variant, each with the labels of its variant."""
    by_variant = labels if isinstance(labels, dict) else dict.fromkeys(names, labels)
    if by_variant.keys() != set(names) or any(len(by_variant[name]) != H for name in names):
        raise ValueError(f"labels must be {H} words or phrases, one for each head.")
    each = len(frames) // len(names)
    return [
        replace(frame, labels=tuple(by_variant[names[i // each]])) for i, frame in enumerate(frames)
    ]


def _causal_twins(arrays: list[np.ndarray]) -> list[np.ndarray]:
    """What each array would be behind a causal mask; none where that cannot be told."""
    T, S = arrays[0].shape[-2:]
    affordable = sum(array.size for array in arrays) <= _MOST_FOR_TOGGLE
    if not (T == S > 1 and affordable and all(map(are_weights, arrays))):
        return []
    twins = [make_causal(array) for array in arrays]
    return [] if any(twin is None for twin in twins) else twins


def _frames(array: np.ndarray, masked: np.ndarray | None) -> list[Frame]:
    """One frame for each batch entry of ``array`` (B, H, T, S)."""
    hidden = array == -np.inf
    if masked is not None:
        hidden = hidden | masked
    return [Frame(weights, cells) for weights, cells in zip(array, hidden, strict=True)]


def _read_compare(compare, H: int, variants: tuple[str, ...]):
    if compare is None:
        return None
    if isinstance(compare, str):
        if compare not in variants:
            named = ", ".join(filter(None, variants)) or "none has a name"
            raise ValueError(f"There is no variant {compare!r} to compare with: {named}.")
        return ("variant", variants.index(compare))
    return read_head(compare, H)
