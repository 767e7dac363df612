"""Finds attention weights in what models and libraries hand over.

transformers gives a tuple of layers, or an output object that holds such tuples by name, and its
`generate` a tuple of steps of layers. TransformerLens keeps activations by the names of its hooks.
"""

from __future__ import annotations

import re

import numpy as np
import torch

HOOK = re.compile(r"blocks\.(\d+)\.attn\.hook_pattern")
ASK_FOR_THEM = (
    "A model of transformers hands weights over only if it is loaded with "
    'attn_implementation="eager" and called with output_attentions=True.'
)


def name_variants(weights) -> dict[str, object]:
    """What there is to show, by name: one thing, named variants, layers, or layers of variants.

    Raises ValueError where there is nothing, or where what there is cannot stand side by side.
    """
    if hasattr(weights, "keys") and hasattr(weights, "__getitem__"):
        names = list(weights.keys())
        return _of_mapping({str(name): weights[name] for name in names}, weights)
    if isinstance(weights, (list, tuple)):
        return _of_layers(weights)
    return {"": weights}


def _of_mapping(named: dict, weights) -> dict:
    hooks = {m[1]: named[name] for name in named if (m := HOOK.fullmatch(name))}
    if hooks:  # of TransformerLens
        return {f"layer {number}": pattern for number, pattern in hooks.items()}
    if hasattr(weights, "to_tuple"):  # an output of transformers
        return _of_output({name: named[name] for name in named if name.endswith("attentions")})
    if not named:
        raise ValueError("There are no weights here: pass at least one array (H, T, S).")
    found = {}
    for name, value in named.items():
        if isinstance(value, (list, tuple)) and _holds_arrays(value):
            layers = _of_layers(value)
            found |= {f"{name}, {layer}": array for layer, array in layers.items()}
        else:
            found[name] = value
    return found


def _of_output(named: dict) -> dict:
    given = {name: value for name, value in named.items() if value}
    if not given:
        raise ValueError(f"There are no weights in this output. {ASK_FOR_THEM}")
    if len(given) > 1:
        raise ValueError(
            f"This output holds {' and '.join(given)}: pass one of them, such as "
            f"outputs.{list(given)[-1]}."
        )
    return _of_layers(next(iter(given.values())))


def _of_layers(layers) -> dict:
    if not len(layers) or all(layer is None for layer in layers):
        raise ValueError(f"There are no weights here: no layer has any. {ASK_FOR_THEM}")
    if all(isinstance(step, (list, tuple)) and _holds_arrays(step) for step in layers):
        layers = [_stitched(steps) for steps in zip(*layers, strict=True)]
    return {f"layer {i}": layer for i, layer in enumerate(layers)}


def _holds_arrays(values) -> bool:
    return bool(len(values)) and all(isinstance(v, (torch.Tensor, np.ndarray)) for v in values)


def _stitched(steps) -> torch.Tensor:
    """What `generate` kept of one layer, step by step (B, H, T, S), as one (B, H, T, S): each step
    adds rows, and sees keys that those before it did not have."""
    tensors = [torch.as_tensor(step).detach().cpu() for step in steps]
    S = max(tensor.shape[-1] for tensor in tensors)
    grown = [torch.nn.functional.pad(tensor, (0, S - tensor.shape[-1])) for tensor in tensors]
    return torch.cat(grown, -2)
