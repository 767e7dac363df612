"""Another device than the CPU, on machines that have none.

All numbers lie in the CPU's memory. Which memory stands for the other device's is written on it,
and tensors of both kinds meet, move and say where they are as they do beside a GPU. To a learner's
code the other device is called `meta`, a name that torch knows.
"""

import contextlib
from functools import cache

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

CPU, THERE = torch.device("cpu"), torch.device("meta")
CLASH = "Expected all tensors to be on the same device, but found at least two devices: cpu, meta"
NO_ARRAY = "can't convert a tensor of this device to numpy: use Tensor.cpu() first"
DEVICE = Tensor.device.__get__


def is_there(tensor: Tensor) -> bool:
    """Whether a tensor lies on the other device."""
    while torch._C._functorch.is_functorch_wrapped_tensor(tensor):
        tensor = torch._C._functorch.get_unwrapped(tensor)
    try:
        return getattr(tensor.untyped_storage(), "is_there", False)
    except (NotImplementedError, RuntimeError):  # it has no memory
        return False


def put(tensor: Tensor, there: bool = True) -> Tensor:
    """Say that the memory of a tensor is the other device's, or that it is not; return it."""
    tensor.untyped_storage().is_there = there
    return tensor


@contextlib.contextmanager
def elsewhere():
    """Let code meet the other device."""
    with _Operators() as operators, _Functions(operators):
        yield


class _Functions(TorchFunctionMode):
    """What is decided by where a tensor is said to be."""

    def __init__(self, operators):
        super().__init__()
        self._operators = operators

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        first = args[0] if args else None
        there = isinstance(first, Tensor) and is_there(first)
        if func == DEVICE:
            return THERE if there else func(first)
        if there and func in (Tensor.numpy, Tensor.__array__):
            raise TypeError(NO_ARRAY)
        if kwargs.get("device") == THERE and func in _makers():
            return self._moved(func(*args, **kwargs | {"device": CPU}), True)
        if func in (Tensor.to, Tensor.type_as) and len(args) > 1 and isinstance(args[1], Tensor):
            other = args[1]
            return self._moved(first, is_there(other)).to(other.dtype)
        if there and _asks_for_cpu(func, args[1:], kwargs):
            return func(self._moved(first, False), *args[1:], **kwargs)
        self._operators.stay = there and "device" not in kwargs
        try:
            return func(*args, **kwargs)
        finally:
            self._operators.stay = False

    def _moved(self, tensor, there):
        return tensor if is_there(tensor) == there else put(tensor.clone(), there)


def _makers():
    """What makes a tensor of anything, past the operators."""
    return torch.as_tensor, torch.asarray, torch.tensor


def _asks_for_cpu(func, args, kwargs):
    if func not in (Tensor.to, Tensor.type, *_makers()):
        return func is Tensor.cpu
    asked = [str(value) for value in (*args, *kwargs.values())]
    return "cpu" in asked or any("torch." in a and "Tensor" in a for a in asked)


class _Operators(TorchDispatchMode):
    """What becomes of tensors here and there.

    stay: whether a function is at work on a tensor that lies there, and no device was named: it may
    ask for its tensor's own device on the way, which is the CPU's name.
    """

    stay = False

    @classmethod
    def _should_skip_dynamo(cls):
        return False  # else torch imports its compiler at the first call, which takes seconds

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        asked = kwargs.get("device")
        if asked is not None:
            kwargs["device"] = CPU
        given = list(_tensors((*args, *kwargs.values())))
        places = {is_there(tensor) for tensor in given if tensor.dim()}
        if len(places) > 1 and func.overloadpacket not in _any_places():
            raise RuntimeError(CLASH)
        result = func(*args, **kwargs)
        if asked == THERE or self.stay or (asked is None and any(map(is_there, given))):
            memory = {tensor.untyped_storage()._cdata for tensor in given}
            for tensor in _tensors((result,)):
                if tensor.untyped_storage()._cdata not in memory:
                    put(tensor)
        return result


@cache
def _any_places():
    """Operators that take tensors of both devices."""
    aten = torch.ops.aten
    return {aten.copy_, aten._to_copy, aten.index, aten.set_}


def _tensors(values):
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, tuple | list):
            yield from _tensors(value)
