import json
import struct

import pytest
import torch

from attention_lab.check.probes import probes
from attention_lab.check.references import expect
from attention_lab.check.steps import STEPS
from attention_lab.observation import (
    Call,
    Failure,
    Layer,
    Malformed,
    Observation,
    Outcome,
    Probe,
    Request,
    Unknown,
    decode,
    encode,
)

DTYPES = (torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.bool, torch.int64)


def round_trip(*args):
    probe = Probe("project", "a trip", (Call(args),))
    return decode(encode(probe), Probe).calls[0].args


@pytest.mark.parametrize("value", [None, True, 3, -1.5, float("inf"), "ü", (1, (2,)), torch.int8])
def test_plain_values_come_back(value):
    assert round_trip(value) == (value,)


def test_nan_comes_back():
    (value,) = round_trip(float("nan"))
    assert value != value


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(), (0,), (1,), (2, 0, 3), (3, 4)], ids=str)
def test_tensors_come_back_to_the_bit(dtype, shape):
    tensor = (torch.randn(shape) * 3).to(dtype)
    (back,) = round_trip(tensor)
    assert back.dtype is dtype
    assert back.shape == tensor.shape
    assert torch.equal(back, tensor)


def test_tensors_keep_their_strides():
    for tensor in (torch.randn(3, 4).T, torch.randn(2, 3, 8)[..., ::2], torch.randn(5, 2, 3).mT):
        (back,) = round_trip(tensor)
        assert back.stride() == tensor.stride()
        assert torch.equal(back, tensor)


def test_cells_that_share_memory_are_laid_out_anew():
    (back,) = round_trip(torch.randn(1, 3).expand(4, 3))
    assert back.is_contiguous()


def test_equal_tensors_travel_once_and_share_nothing():
    tensor = torch.randn(1000)
    one, other = round_trip(tensor, tensor.clone())
    assert len(encode(Call((tensor, tensor)))) < 1.5 * len(encode(Call((tensor,))))
    one.zero_()
    assert torch.equal(other, tensor)


def test_a_field_that_has_its_default_is_left_out():
    assert len(encode(Outcome())) < len(encode(Outcome(output=0))) < 40
    assert decode(encode(Outcome()), Outcome) == Outcome()


def test_meta_tensors_keep_shape_and_device():
    (back,) = round_trip(torch.empty(2, 3, device="meta"))
    assert back.is_meta
    assert back.shape == (2, 3)


def test_everything_that_is_sent_comes_back():
    for step in STEPS:
        sent = tuple(probe.asked for probe in probes(step, 3, hidden=True))
        back = decode(encode(Request(sent)), Request).probes
        assert encode(Request(back)) == encode(Request(sent))
    seen = tuple(expect(probe) for probe in probes("project", 3))
    assert encode(decode(encode(seen), tuple[Observation, ...])) == encode(seen)


@pytest.mark.parametrize("value", [object(), [1], {"a": 1}, 1j, torch.randn(2).to_sparse()])
def test_what_is_no_plain_data_cannot_be_encoded(value):
    with pytest.raises(TypeError, match="cannot be encoded"):
        encode(Call((value,)))


def forged(node, raw=b""):
    text = json.dumps(node).encode()
    return b"MHA1" + struct.pack("<I", len(text)) + text + raw


def tensor(dtype="float32", shape=(1,), stride=(1,), device="cpu"):
    return {"tensor": [dtype, shape, stride, device]}


def outcome(**fields):
    return {"Outcome": fields}


FORGERIES = {
    "nothing": b"",
    "no header": b"hello, this is not what was asked for",
    "a length past the end": b"MHA1" + struct.pack("<I", 1 << 30) + b"{}",
    "no JSON": b"MHA1" + struct.pack("<I", 2) + b"{{",
    "bytes left over": forged(outcome(), b"x"),
    "an unknown class": forged({"os.system": ["true"]}),
    "a class with a field too few": forged({"Failure": {"type": "E"}}),
    "a class with a field too many": forged({"Failure": {"type": "E", "message": "", "more": 1}}),
    "a class without names": forged({"Failure": ["E", ""]}),
    "fields in another order": forged({"Failure": {"message": "", "type": "E", "line": ""}}),
    "a field of another type": forged(outcome(failure="sorry")),
    "a number where a tuple belongs": forged(outcome(args=3)),
    "another type than asked for": forged({"Unknown": {"type": "list"}}),
    "a tensor without a device": forged(outcome(output={"tensor": ["float32", [1], [1]]})),
    "a tensor that is cut short": forged(outcome(output=tensor()), b"abc"),
    "a negative size": forged(outcome(output=tensor(shape=[-1]))),
    "a size that is no number": forged(outcome(output=tensor(shape=["1"]))),
    "a boolean size": forged(outcome(output=tensor(shape=[True])), b"abcd"),
    "strides for other axes": forged(outcome(output=tensor(stride=[1, 1])), b"abcd"),
    "an unknown dtype": forged(outcome(output=tensor(dtype="complex64")), b"abcdefgh"),
    "an unknown device": forged(outcome(output=tensor(device="cuda")), b"abcd"),
    "a repetition of nothing": forged(outcome(output={"again": 0})),
    "an enormous meta tensor, repeated": forged(outcome(output={"again": -1})),
    "two kinds at once": forged({"tuple": [], "float": "0x0p0"}),
    "a list": forged([1, 2]),
    "a float as it is": forged(outcome(output=1.5)),
    "a tuple without end": forged(outcome(output={"tuple": [None] * 1000})),
    "a text without end": forged(outcome(output="x" * 100_000)),
    "endless nesting": forged(outcome(output=json.loads('{"tuple":[' * 50 + "1" + "]}" * 50))),
    "JSON nested beyond reason": b"MHA1" + struct.pack("<I", 200_000) + b"[" * 200_000,
}


@pytest.mark.parametrize("data", FORGERIES.values(), ids=FORGERIES)
def test_forgeries_are_refused(data):
    with pytest.raises(Malformed):
        decode(data, Outcome)


@pytest.mark.parametrize(
    "data",
    [
        b"MHA1" + bytes(65 << 20),
        b"MHA1" + struct.pack("<I", 2 << 20) + b'{"Outcome":{}}'.ljust(2 << 20),
    ],
    ids=["in all", "JSON"],
)
def test_a_long_message_is_refused_unread(data):
    with pytest.raises(Malformed, match="too long"):
        decode(data, Outcome)


def test_strides_cannot_reach_out_of_the_message():
    far = tensor(shape=[2], stride=[1 << 20])
    back = decode(forged(outcome(output=far), bytes(8)), Outcome).output
    assert back.untyped_storage().nbytes() < 100


def test_booleans_are_made_of_any_byte():
    node = tensor(dtype="bool", shape=[2], stride=[1])
    back = decode(forged(outcome(output=node), b"\x02\x00"), Outcome).output
    assert back.tolist() == [True, False]


def test_every_byte_changed_is_refused_or_harmless():
    right = bytearray(encode((Observation((Outcome(Layer(torch.ones(2, 2), torch.ones(2))),)),)))
    generator = torch.Generator().manual_seed(0)
    for _ in range(300):
        changed = bytearray(right)
        place = int(torch.randint(len(right), (), generator=generator))
        changed[place] = int(torch.randint(256, (), generator=generator))
        try:
            decode(bytes(changed), tuple[Observation, ...])
        except Malformed:
            continue


def test_failures_and_unknown_things_come_back():
    seen = Observation((Outcome(Unknown("dict"), Failure("E", "why", "line")),))
    assert decode(encode(seen), Observation) == seen
