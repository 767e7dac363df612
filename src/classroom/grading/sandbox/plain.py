"""Plain data: what may be copied from a submission to the judge."""

import torch

from attention_lab import observation
from attention_lab.observation.probe import Value

MAX_DEPTH = 12
ARGUMENTS = tuple[Value, ...]  # of a call


def to_message(value) -> tuple[dict, bytes]:
    """`value` as JSON where it is exactly JSON, else in the codec of the observations.

    Raises TypeError or ValueError for what is no plain data.
    """
    if is_json(value):
        return {"json": value}, b""
    if isinstance(value, torch.Tensor):
        value = value.detach().as_subclass(torch.Tensor)
    return {}, observation.encode(value)


def is_json(value, depth: int = MAX_DEPTH) -> bool:
    """Whether `value` is made of JSON's own types and nothing derived from them."""
    if value is None or type(value) in (bool, int, str):
        return True
    if depth == 0:
        return False
    if type(value) is list:
        return all(is_json(item, depth - 1) for item in value)
    if type(value) is dict:
        return all(type(key) is str and is_json(item, depth - 1) for key, item in value.items())
    return False
