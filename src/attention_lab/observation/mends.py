"""What an answer is given for a while that would set one mistake right: if it then is right, that
was its mistake.

A mend changes what torch's functions do, or what a name or number in the answer's code is, never
the answer itself.
"""

import contextlib
import inspect
from types import CodeType

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from attention_lab.observation.elsewhere import THERE
from attention_lab.observation.probe import Layer

CASTS = {"float", "half", "bfloat16", "double"}
CONVERSIONS = {"to", "type", "type_as"}


class _Instead(TorchFunctionMode):
    """Lets `change(name, func, args, kwargs)` stand in for every function of torch."""

    def __init__(self, change):
        super().__init__()
        self.change = change

    def __torch_function__(self, func, types, args=(), kwargs=None):
        return self.change(getattr(func, "__name__", ""), func, args, kwargs or {})


def copying_views(call):
    """`view` copies where it must."""

    def change(name, func, args, kwargs):
        if name == "view" and not any(isinstance(a, torch.dtype) for a in args):
            return args[0].reshape(*args[1:], **kwargs)
        return args[0].reshape_as(args[1]) if name == "view_as" else func(*args, **kwargs)

    return _Instead(change)


def no_squeeze(call):
    """`squeeze` without an axis drops none."""

    def change(name, func, args, kwargs):
        if name == "squeeze" and len(args) == 1 and not kwargs:
            return args[0]
        return func(*args, **kwargs)

    return _Instead(change)


def no_rounding(call):
    def change(name, func, args, kwargs):
        return args[0] if name == "round" else func(*args, **kwargs)

    return _Instead(change)


def no_dropout(call):
    def change(name, func, args, kwargs):
        return args[0] if "dropout" in name else func(*args, **kwargs)

    return _Instead(change)


def no_casts(call):
    """All floating numbers are of the type of the input."""
    own = _dtype(call)

    def fitting(value):
        is_other = isinstance(value, torch.dtype) and value.is_floating_point
        return own if is_other else value

    def change(name, func, args, kwargs):
        kwargs = {key: fitting(value) for key, value in kwargs.items()}
        if name in CASTS:
            return args[0].to(own)
        if name in CONVERSIONS:
            if isinstance(args[-1], Tensor) and len(args) > 1 and args[-1].is_floating_point():
                return args[0].to(args[-1].device, own)
            args = tuple(map(fitting, args))
        return func(*args, **kwargs)

    @contextlib.contextmanager
    def mend():
        torch.set_default_dtype(own)
        try:
            with _Instead(change):
                yield
        finally:
            torch.set_default_dtype(torch.float32)

    return mend()


def beside_input(call):
    """What is made without a device lies where the input lies."""
    return torch.device(THERE if call.elsewhere else "cpu")


def truth(call):
    """A tensor is true where a condition asks for its truth, whatever is in it."""

    def change(name, func, args, kwargs):
        return True if name == "__bool__" and args[0].numel() != 1 else func(*args, **kwargs)

    return _Instead(change)


def kept_for_backward(call):
    """What the backward pass needs is copied, so that nobody can overwrite it."""
    return torch.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t)


def unrecorded(call):
    """Nothing is recorded for a backward pass."""
    return torch.no_grad()


@contextlib.contextmanager
def seeded(call):
    """Random numbers are the same in every call."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        yield


class _Whole(int):
    """A whole number by which `/` divides like `//`."""

    def __rtruediv__(self, other):
        return other // int(self)

    def __truediv__(self, other):
        return int(self) // other


MENDS = {
    mend.__name__: mend
    for mend in (
        copying_views, no_squeeze, no_rounding, no_dropout, no_casts, beside_input, truth,
        kept_for_backward, unrecorded, seeded,
    )
}  # fmt: skip
WHOLE_DIVISION = "whole_division"


def during(mend, call):
    """Return the context in which a call is made with this mend; "" is none."""
    return MENDS[mend](call) if mend in MENDS else contextlib.nullcontext()


def as_size(mend, value):
    """Return a size as it is passed on with this mend."""
    is_size = mend == WHOLE_DIVISION and type(value) is int
    return _Whole(value) if is_size else value


def _dtype(call):
    tensors = [v for v in (*call.layers, *call.args) if isinstance(v, Tensor | Layer)]
    first = [v.weight if isinstance(v, Layer) else v for v in tensors][:1]
    asked = [v for v in call.args if isinstance(v, torch.dtype)]
    return next((t.dtype for t in first if t.is_floating_point()), asked[0] if asked else None) or (
        torch.float32
    )


# --- names and numbers in the code ---


@contextlib.contextmanager
def given(functions, values):
    """Let global names and written numbers of some functions have other values for a while.

    values: pairs of a name or a number and what it is to be.
    """
    if not values:
        yield
        return
    names = {what: value for what, value in values if isinstance(what, str)}
    numbers = {what: value for what, value in values if not isinstance(what, str)}
    spaces = list({id(f.__globals__): f.__globals__ for f in functions}.values())
    saved = [(s, name, s[name]) for s in spaces for name in names if name in s]
    codes = [(f, f.__code__) for f in functions]
    try:
        for space, name, _ in saved:
            space[name] = names[name]
        for function, code in codes:
            function.__code__ = _rewritten(code, numbers)
        yield
    finally:
        for space, name, value in saved:
            space[name] = value
        for function, code in codes:
            function.__code__ = code


def _rewritten(code, numbers):
    if not numbers:
        return code
    return code.replace(co_consts=tuple(_constant(value, numbers) for value in code.co_consts))


def _constant(value, numbers):
    if isinstance(value, CodeType):
        return _rewritten(value, numbers)
    if isinstance(value, tuple):
        return tuple(_constant(item, numbers) for item in value)
    return numbers.get(value, value) if type(value) in (int, float) else value


def written(functions) -> tuple[int | float, ...]:
    """Return the numbers that are in some functions' code, but for 0, 1 and the axis -1."""
    found = set()
    for function in functions:
        found |= set(_numbers(function.__code__.co_consts))
    return tuple(sorted(found))


def _numbers(constants):
    for value in constants:
        if inspect.iscode(value):
            yield from _numbers(value.co_consts)
        elif isinstance(value, tuple):
            yield from _numbers(value)
        elif type(value) in (int, float) and value not in (0, 1, -1) and abs(value) < 1 << 60:
            yield value
