"""Probes and observations as bytes and back: JSON, then the raw bytes of the tensors.

Strict, since what is decoded may come from a hostile process: only the types of `probe`, every
field of its declared type, every size bounded, every byte accounted for; never pickle. Layout:

    b"MHA1", length of the JSON (4 bytes, little endian), JSON, bytes of all tensors in order

A field that has its default is left out. A tensor equal to an earlier one is written as
{"again": number of that one}, and becomes a tensor of its own again.
"""

import dataclasses
import json
import math
import struct
import types
import typing
from functools import cache

import torch
from torch import Tensor

from attention_lab.observation import probe as plain

MAGIC = b"MHA1"
MAX_BYTES = 64 << 20
MAX_JSON = 1 << 20  # Python makes of it what is twenty times as large
MAX_DEPTH = 12
MAX_ITEMS = 512
MAX_TEXT = 1 << 16
MAX_DIMS = 8
MAX_COMPARED = 1 << 16  # bytes of a tensor that is looked for among the earlier ones

DTYPES = {
    str(dtype).removeprefix("torch."): dtype
    for dtype in (
        torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.bool,
        torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64,
    )
}  # fmt: skip
DTYPE_NAMES = {dtype: name for name, dtype in DTYPES.items()}
CLASSES = {
    cls.__name__: cls
    for cls in vars(plain).values()
    if isinstance(cls, type) and dataclasses.is_dataclass(cls)
}


class Malformed(ValueError):
    """The bytes are not an encoding of the expected type."""


def encode(value) -> bytes:
    """Return `value`, made of the types in `probe`, as bytes; TypeError for anything else."""
    writer = _Writer()
    node = writer.node(value)
    text = json.dumps(node, allow_nan=False, separators=(",", ":")).encode()
    return b"".join([MAGIC, struct.pack("<I", len(text)), text, *writer.chunks])


def decode(data: bytes, expected: type):
    """Return the instance of dataclass `expected` (or the tuple type) that `data` encodes.

    Raises Malformed for anything but a faithful encoding of such an instance.
    """
    try:
        return _decode(data, expected)
    except Malformed:
        raise
    except (ValueError, TypeError, KeyError, RuntimeError, OverflowError, RecursionError) as error:
        raise Malformed(f"{type(error).__name__}: {error}"[:300]) from None


def _decode(data, expected):
    _require(len(data) <= MAX_BYTES, "too long")
    _require(data[:4] == MAGIC and len(data) >= 8, "no header")
    (length,) = struct.unpack("<I", data[4:8])
    _require(length <= MAX_JSON, "JSON too long")
    start = 8 + length
    _require(start <= len(data), "truncated")
    reader = _Reader(memoryview(data)[start:])
    value = reader.value(json.loads(bytes(data[8:start])), MAX_DEPTH)
    _require(reader.position == len(data) - start, "bytes left over")
    _require(_test(expected)(value), f"not of type {getattr(expected, '__name__', expected)}")
    return value


def _require(condition, message):
    if not condition:
        raise Malformed(message)


# --- to JSON: scalars stand for themselves, everything else is {"kind": ...} ---


class _Writer:
    def __init__(self):
        self.chunks = []
        self.numbers = {}  # of the tensors so far, by what they hold

    def node(self, value):
        kind = type(value)
        if value is None or kind in (bool, int, str):
            return value
        if kind is float:
            return {"float": value.hex()}
        if isinstance(value, Tensor):
            return self.tensor(value)
        if kind is tuple:
            return {"tuple": [self.node(item) for item in value]}
        if CLASSES.get(kind.__name__) is kind:
            return {kind.__name__: {name: self.node(part) for name, part in _told(value)}}
        if isinstance(value, torch.dtype):
            return {"dtype": DTYPE_NAMES[value]}
        if isinstance(value, torch.device):
            return {"device": str(value)}
        raise TypeError(f"{kind.__name__} cannot be encoded")

    def tensor(self, tensor):
        if tensor.dtype not in DTYPE_NAMES or tensor.layout is not torch.strided:
            raise TypeError(f"a tensor of {tensor.dtype} and {tensor.layout} cannot be encoded")
        shape, stride = tuple(tensor.shape), tensor.stride()
        described = (DTYPE_NAMES[tensor.dtype], shape, stride, tensor.device.type)
        chunk = b"" if tensor.is_meta else _to_bytes(tensor)
        if len(chunk) <= MAX_COMPARED:
            number = self.numbers.setdefault((described, chunk), len(self.chunks))
            if number < len(self.chunks):
                return {"again": number}
        self.chunks.append(chunk)
        return {"tensor": described}


def _told(instance):
    """The name and value of each field that is not as it is by default."""
    for name, default in _defaults(type(instance)).items():
        value = getattr(instance, name)
        if type(value) is not type(default) or value != default:
            yield name, value


def _to_bytes(tensor):
    tensor = tensor.detach().cpu().resolve_neg()
    tensor = tensor.view(torch.int16) if tensor.dtype is torch.bfloat16 else tensor  # as numpy can
    return tensor.numpy().tobytes()


# --- from JSON ---


class _Reader:
    def __init__(self, raw):
        self.raw = raw
        self.position = 0
        self.tensors = []  # (chunk, dtype, shape, stride, device) of those so far
        self.size = 0  # of all tensors made, in bytes

    def value(self, node, depth):
        kind = type(node)
        if kind is not dict:
            _require(node is None or kind in (bool, int, str), "unknown node")
            _require(kind is not str or len(node) <= MAX_TEXT, "text too long")
            return node
        _require(depth > 0, "too deep")
        _require(len(node) == 1, "unknown node")
        ((kind, content),) = node.items()
        if kind == "tensor":
            return self.tensor(content)
        if kind == "again":
            _require(type(content) is int and 0 <= content < len(self.tensors), "no such tensor")
            return self.made(*self.tensors[content])
        if kind == "tuple":
            _require(type(content) is list and len(content) <= MAX_ITEMS, "no tuple")
            return tuple([self.value(item, depth - 1) for item in content])
        if kind == "float":
            return float.fromhex(content)
        if kind == "dtype":
            return DTYPES[content]
        if kind == "device":
            _require(content in ("cpu", "meta"), "unknown device")
            return torch.device(content)
        return self.instance(CLASSES[kind], content, depth - 1)

    def instance(self, cls, content, depth):
        tests = _hints(cls)
        _require(type(content) is dict, "no fields")
        _require([name for name in tests if name in content] == list(content), "other fields")
        fields = {name: self.value(node, depth) for name, node in content.items()}
        for name, value in fields.items():
            if not tests[name](value):
                raise Malformed(f"{cls.__name__}.{name}")
        return cls(**fields)

    def tensor(self, content):
        _require(type(content) is list and len(content) == 4, "no tensor")
        dtype, shape, stride, device = content
        _require(device in ("cpu", "meta"), "unknown device")
        _require(type(shape) is type(stride) is list, "sizes")
        _require(len(shape) == len(stride) <= MAX_DIMS, "sizes")
        for size in (*shape, *stride):
            _require(type(size) is int and 0 <= size <= MAX_BYTES, "sizes")
        dtype = DTYPES[dtype]
        size = 0 if device == "meta" else math.prod(shape) * dtype.itemsize
        chunk = self.raw[self.position : self.position + size]
        _require(len(chunk) == size, "tensor truncated")
        self.position += size
        self.tensors.append((chunk, dtype, shape, stride, device))
        return self.made(*self.tensors[-1])

    def made(self, chunk, dtype, shape, stride, device):
        self.size += len(chunk)
        _require(self.size <= MAX_BYTES, "too large")
        if device == "meta":
            return torch.empty_strided(shape, stride, dtype=dtype, device="meta")
        return _strided(_from_bytes(chunk, dtype, shape), stride)


def _from_bytes(chunk, dtype, shape):
    if not chunk:
        return torch.empty(shape, dtype=dtype, device="cpu")
    stored = torch.uint8 if dtype is torch.bool else dtype  # any byte but 0 and 1 is no bool
    return torch.frombuffer(bytearray(chunk), dtype=stored).view(shape).to(dtype)


def _strided(tensor, stride):
    """Lay a contiguous tensor out with `stride`, unless cells share memory or are far apart."""
    if list(tensor.stride()) == stride or tensor.numel() == 0:
        return tensor
    spread = 1 + sum((n - 1) * s for n, s in zip(tensor.shape, stride, strict=True))
    if spread > 8 * tensor.numel() or _overlaps(tensor.shape, stride):
        return tensor
    laid_out = torch.empty_strided(tensor.shape, stride, dtype=tensor.dtype, device="cpu")
    return laid_out.copy_(tensor)


def _overlaps(shape, stride):
    reach = 0
    for step, size in sorted((s, n) for n, s in zip(shape, stride, strict=True) if n > 1):
        if step <= reach:
            return True
        reach += step * (size - 1)
    return False


# --- declared types ---


@cache
def _hints(cls):
    """Return the fields of a dataclass in order, each with the test of its declared type."""
    hints = typing.get_type_hints(cls, vars(plain))
    return {field.name: _test(hints[field.name]) for field in dataclasses.fields(cls)}


@cache
def _defaults(cls):
    """Return the fields of a dataclass in order, each with its default or MISSING."""
    return {field.name: field.default for field in dataclasses.fields(cls)}


@cache
def _test(hint):
    """Return a function that says whether a decoded value is of the declared type `hint`, as far
    down as the declaration goes."""
    if isinstance(hint, str | typing.ForwardRef):
        name = getattr(hint, "__forward_arg__", hint)
        return lambda value: _test(vars(plain)[name])(value)
    union = typing.get_origin(hint) in (types.UnionType, typing.Union)
    options = typing.get_args(hint) if union else (hint,)
    classes = frozenset(option for option in options if isinstance(option, type))
    items = [_test(typing.get_args(o)[0]) for o in options if typing.get_origin(o) is tuple]

    def test(value):
        if type(value) is tuple:
            return any(all(map(item, value)) for item in items)
        return type(value) in classes

    return test
