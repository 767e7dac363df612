"""torch as it is in a new process, whatever a notebook has set or put in its place."""

import contextlib

import torch
from torch import Tensor, nn

# Whoever replaces these is told so: no check uses them.
COMPARISONS = {
    (module, name): getattr(module, name)
    for module, name in (
        (torch, "allclose"),
        (torch, "equal"),
        (torch, "isclose"),
        (torch.testing, "assert_close"),
    )
}
OWNERS = (torch, torch.linalg, nn.functional, Tensor, nn.Module, nn.Linear, nn.MultiheadAttention)
ORIGINALS = {
    owner: {
        name: value
        for name, value in vars(owner).items()
        if callable(value) and (owner, name) not in COMPARISONS
    }
    for owner in OWNERS
}


@contextlib.contextmanager
def neutral_torch():
    """Put a changed default dtype, default device, grad mode, autocast, or function of torch aside
    for a while.

    One thread works meanwhile: on a busy machine several wait for each other at every small tensor.
    """
    dtype, threads = torch.get_default_dtype(), torch.get_num_threads()
    with contextlib.ExitStack() as stack:
        stack.callback(torch.set_num_threads, threads)
        torch.set_num_threads(1)
        stack.enter_context(_original_functions())
        stack.callback(torch.set_default_dtype, dtype)
        torch.set_default_dtype(torch.float32)
        stack.enter_context(torch.inference_mode(False))
        stack.enter_context(torch.enable_grad())
        stack.enter_context(torch.autocast("cpu", enabled=False))
        if torch.get_default_device().type != "cpu":  # such a context slows every call into torch
            stack.enter_context(torch.device("cpu"))
        yield


@contextlib.contextmanager
def _original_functions():
    replaced = [(owner, name, value) for owner in OWNERS for name, value in _replaced(owner)]
    for owner, name, _ in replaced:
        if name in ORIGINALS[owner]:
            setattr(owner, name, ORIGINALS[owner][name])
        else:
            delattr(owner, name)
    try:
        yield
    finally:
        for owner, name, value in replaced:
            setattr(owner, name, value)


def _replaced(owner):
    """What stands in the place of a function of torch's, or hides one of a base class."""
    now, before = vars(owner), ORIGINALS[owner]
    for name in before:
        if now.get(name) is not before[name] and name in now:
            yield name, now[name]
    bases = getattr(owner, "__mro__", ())[1:]
    for name in now.keys() - before.keys():
        if callable(now[name]) and any(name in vars(base) for base in bases):
            yield name, now[name]
