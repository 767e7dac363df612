"""Asking the checks about an answer, and keeping what it does to torch away from the next one."""

import contextlib
import io

import torch

from attention_lab import check

PATCHED = (
    (torch, "allclose"),
    (torch, "equal"),
    (torch, "isclose"),
    (torch.testing, "assert_close"),
)


def verdict(step, answer, **options):
    """Return the Mistake with which `check.<step>` rejects `answer`, or None where it is right."""
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            getattr(check, step)(answer, **options)
    except check.Mistake as mistake:
        return mistake
    return None


def written(source, step, **given):
    """Return the answer that `source`, the text of a notebook's cell, defines."""
    namespace = {"__name__": "student"}
    exec(
        "import math\nimport torch\nfrom torch import nn\nimport torch.nn.functional as F",
        namespace,
    )
    namespace.update(given)
    exec(compile(source, f"<{step}>", "exec"), namespace)
    return namespace[step]


@contextlib.contextmanager
def torch_as_it_was():
    """Undo on leaving what an answer replaced in torch."""
    before = [(module, name, getattr(module, name)) for module, name in PATCHED]
    try:
        yield
    finally:
        for module, name, function in before:
            setattr(module, name, function)
