"""Probes and observations as bytes and back: JSON, then the raw bytes of the tensors.

Strict, since what is decoded may come from a hostile process: only the types of `probe`, every
field of its declared type, every size bounded, every byte accounted for; never pickle. Layout:

    b"MHA1", length of the JSON (4 bytes, little endian), JSON, bytes of all tensors in order
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
MAX_DEPTH = 12
MAX_ITEMS = 512
MAX_TEXT = 1 << 16
MAX_DIMS = 8

DTYPES = {
    str(dtype).removeprefix("torch."): dtype
    for dtype in (
        torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.bool,
        torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64,
    )
}  # fmt: skip
CLASSES = {
    cls.__name__: cls
    for cls in vars(plain).values()
    if isinstance(cls, type) and dataclasses.is_dataclass(cls)
}


class Malformed(ValueError):
    """The bytes are not an encoding of the expected type."""


def encode(value) -> bytes:
    """Return `value`, made of the types in `probe`, as bytes; TypeError for anything else."""
    chunks = []
    text = json.dumps(_to_json(value, chunks), allow_nan=False, separators=(",", ":")).encode()
    return b"".join([MAGIC, struct.pack("<I", len(text)), text, *chunks])


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
    start = 8 + length
    _require(start <= len(data), "truncated")
    reader = _Reader(memoryview(data)[start:])
    value = reader.value(json.loads(bytes(data[8:start])), MAX_DEPTH)
    _require(reader.position == len(data) - start, "bytes left over")
    _require(_is(value, expected), f"not of type {getattr(expected, '__name__', expected)}")
    return value


def _require(condition, message):
    if not condition:
        raise Malformed(message)


# --- to JSON: scalars stand for themselves, everything else is {"kind": ...} ---


def _to_json(value, chunks):
    if value is None or type(value) in (bool, int, str):
        return value
    if type(value) is float:
        return {"float": value.hex()}
    if isinstance(value, Tensor):
        return {"tensor": _tensor_to_json(value, chunks)}
    if type(value) is tuple:
        return {"tuple": [_to_json(item, chunks) for item in value]}
    if isinstance(value, torch.dtype):
        return {"dtype": str(value).removeprefix("torch.")}
    if isinstance(value, torch.device):
        return {"device": str(value)}
    if CLASSES.get(type(value).__name__) is type(value):
        fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
        return {type(value).__name__: {k: _to_json(v, chunks) for k, v in fields.items()}}
    raise TypeError(f"{type(value).__name__} cannot be encoded")


def _tensor_to_json(tensor, chunks):
    described = {
        "dtype": str(tensor.dtype).removeprefix("torch."),
        "shape": list(tensor.shape),
        "stride": list(tensor.stride()),
        "device": tensor.device.type,
    }
    if described["dtype"] not in DTYPES or tensor.layout is not torch.strided:
        raise TypeError(f"a tensor of {tensor.dtype} and {tensor.layout} cannot be encoded")
    if tensor.device.type != "meta":
        plain_tensor = tensor.detach().cpu().contiguous().resolve_neg()
        chunks.append(plain_tensor.flatten().view(torch.uint8).numpy().tobytes())
    return described


# --- from JSON ---


class _Reader:
    def __init__(self, raw):
        self.raw = raw
        self.position = 0

    def value(self, node, depth):
        _require(depth > 0, "too deep")
        if node is None or type(node) in (bool, int):
            return node
        if type(node) is str:
            _require(len(node) <= MAX_TEXT, "text too long")
            return node
        _require(type(node) is dict and len(node) == 1, "unknown node")
        ((kind, content),) = node.items()
        if kind == "float":
            return float.fromhex(content)
        if kind == "tensor":
            return self.tensor(content)
        if kind == "tuple":
            _require(type(content) is list and len(content) <= MAX_ITEMS, "no tuple")
            return tuple(self.value(item, depth - 1) for item in content)
        if kind == "dtype":
            return DTYPES[content]
        if kind == "device":
            _require(content in ("cpu", "meta"), "unknown device")
            return torch.device(content)
        return self.instance(CLASSES[kind], content, depth - 1)

    def instance(self, cls, content, depth):
        names = [f.name for f in dataclasses.fields(cls)]
        _require(type(content) is dict and list(content) == names, f"fields of {cls.__name__}")
        fields = {name: self.value(content[name], depth) for name in names}
        for name, hint in _hints(cls).items():
            _require(_is(fields[name], hint), f"{cls.__name__}.{name}")
        return cls(**fields)

    def tensor(self, content):
        names = ["dtype", "shape", "stride", "device"]
        _require(type(content) is dict and list(content) == names, "fields of a tensor")
        dtype, shape, stride = DTYPES[content["dtype"]], content["shape"], content["stride"]
        _require(content["device"] in ("cpu", "meta"), "unknown device")
        for sizes in (shape, stride):
            _require(type(sizes) is list and len(sizes) <= MAX_DIMS, "sizes")
            _require(all(type(n) is int and 0 <= n <= MAX_BYTES for n in sizes), "sizes")
        _require(len(shape) == len(stride), "stride")
        if content["device"] == "meta":
            return torch.empty_strided(shape, stride, dtype=dtype, device="meta")
        size = math.prod(shape) * dtype.itemsize
        chunk = self.raw[self.position : self.position + size]
        _require(len(chunk) == size, "tensor truncated")
        self.position += size
        return _strided(_from_bytes(chunk, dtype, shape), stride)


def _from_bytes(chunk, dtype, shape):
    if not chunk:
        return torch.empty(shape, dtype=dtype, device="cpu")
    stored = torch.uint8 if dtype is torch.bool else dtype  # any byte but 0 and 1 is no bool
    return torch.frombuffer(bytearray(chunk), dtype=stored).reshape(shape).to(dtype)


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
    return typing.get_type_hints(cls, vars(plain))


def _is(value, hint):
    """Whether `value` is of the declared type `hint`, as far down as the declaration goes."""
    if isinstance(hint, typing.ForwardRef):
        hint = vars(plain)[hint.__forward_arg__]
    if typing.get_origin(hint) is tuple:
        item, _ = typing.get_args(hint)
        return type(value) is tuple and all(_is(v, item) for v in value)
    if typing.get_origin(hint) in (types.UnionType, typing.Union):
        return any(_is(value, option) for option in typing.get_args(hint))
    if hint is types.NoneType or hint is None:
        return value is None
    if hint in (bool, int, float, str):
        return type(value) is hint
    if isinstance(hint, str):
        return _is(value, vars(plain)[hint])
    return isinstance(value, hint)
