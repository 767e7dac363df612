import json
import socket
import struct
import threading
import time

import pytest

from classroom.grading.sandbox import wire


@pytest.fixture
def ends():
    left, right = (wire.Channel(sock) for sock in socket.socketpair())
    yield left, right
    left.close()
    right.close()


def soon():
    """For what is to be too late."""
    return time.monotonic() + 0.05


def in_time():
    """For what is not."""
    return time.monotonic() + 60


def test_message_and_payload_arrive_whole(ends):
    left, right = ends
    payload = bytes(range(256)) * 40_000
    sender = threading.Thread(target=left.send, args=({"do": "run", "täg": [1, 2.5]}, payload))
    sender.start()
    assert right.receive() == ({"do": "run", "täg": [1, 2.5]}, payload)
    sender.join()


def test_received_bytes_are_counted(ends):
    left, right = ends
    left.send({}, b"abc")
    right.receive()
    assert right.received == wire.HEADER.size + 2 + 3


def test_socket_is_handed_over(ends):
    left, right = ends
    ours, theirs = socket.socketpair()
    with ours, theirs:
        left.send({"do": "start"}, give=theirs)
        message, _, given = right.receive_with_socket()
        with given:
            given.send(b"hello")
            assert (message, ours.recv(5)) == ({"do": "start"}, b"hello")


def test_bytes_received_with_a_socket_are_counted(ends):
    left, right = ends
    left.send({}, b"abc")
    right.receive_with_socket()
    assert right.received == wire.HEADER.size + 2 + 3


def test_message_without_a_socket(ends):
    left, right = ends
    left.send({"do": "end"}, b"x")
    assert right.receive_with_socket() == ({"do": "end"}, b"x", None)


def test_silence_is_told_from_hanging_up(ends):
    left, right = ends
    with pytest.raises(wire.TooLate):
        right.receive(deadline=soon())
    left.close()
    with pytest.raises(wire.Closed):
        right.receive(deadline=in_time())
    with pytest.raises(wire.Closed):
        right.send({"a": "x" * 10_000})


def test_reader_who_does_not_read_is_given_up(ends):
    left, _ = ends
    with pytest.raises(wire.TooLate):
        left.send({}, bytes(10 << 20), deadline=soon())
    with pytest.raises(wire.Closed):  # what came next would stand in the middle of that
        left.send({}, deadline=in_time())


def test_message_that_is_late_is_whole_when_it_is_asked_for_again(ends):
    left, right = ends
    raw = wire.HEADER.pack(7, 3) + b'{"a":1}xyz'
    for start in (0, 5, 10):
        left.sock.send(raw[start : start + 5])
        with pytest.raises(wire.TooLate):
            right.receive(deadline=soon())
    left.sock.send(raw[15:])
    left.send({"b": 2})
    assert right.receive(deadline=in_time()) == ({"a": 1}, b"xyz")
    assert right.receive(deadline=in_time()) == ({"b": 2}, b"")


def test_message_that_never_ends_is_given_up(ends):
    left, right = ends
    left.sock.send(wire.HEADER.pack(100, 0) + b'{"a":')
    with pytest.raises(wire.TooLate):
        right.receive(deadline=soon())


@pytest.mark.parametrize(
    "text",
    [b"", b"[]", b"null", b"{", b'{"a": NaN}', b'{"a": -Infinity}', b'{"a": 1e999}', b"\xff\xfe",
     b"[" * 100_000, b'{"a":1} x', '{"a":1}'.encode("utf-16")],
)  # fmt: skip
def test_what_is_no_json_object_is_refused(ends, text):
    left, right = ends
    raw = wire.HEADER.pack(len(text), 0) + text
    sender = threading.Thread(target=left.sock.sendall, args=(raw,))
    sender.start()
    with pytest.raises(wire.Malformed):
        right.receive(deadline=in_time())
    sender.join()


@pytest.mark.parametrize("part", ["[],", '{"":0},', '"a",', "[" * 900 + "0" + "]" * 900 + ","])
def test_message_of_too_many_parts_is_refused_before_python_makes_them(part, monkeypatch):
    monkeypatch.setattr(wire.json, "loads", lambda *_, **__: pytest.fail("they were made"))
    monkeypatch.setattr(wire, "MAX_PARTS", 20_000)
    text = '{"a":[' + part * (1 + 20_000 // (1 + part.count("["))) + "0]}"
    with pytest.raises(wire.Malformed, match="parts"):
        wire._parse(text.encode())


def test_text_that_looks_like_many_parts_is_one(monkeypatch):
    monkeypatch.setattr(wire, "MAX_PARTS", 20)
    text = '[{"a": 1}, "\\\\", []],' * 10
    assert wire._parse(json.dumps({"text": text}).encode()) == {"text": text}


@pytest.mark.parametrize("text", ["\x7f", "ü", "\N{GRINNING FACE}"])
def test_text_is_sent_as_long_as_it_is(ends, text):
    left, right = ends
    left.send({"a": text * 1000})
    assert right.receive() == ({"a": text * 1000}, b"")
    assert right.received < 1000 * len(text.encode()) + 50


def test_text_that_nobody_can_write_arrives_with_question_marks(ends):
    left, right = ends
    left.send({"\udcff": ["\ud800!"]})
    assert right.receive() == ({"?": ["?!"]}, b"")


def test_what_is_no_message_ends_the_conversation(ends):
    left, right = ends
    left.sock.send(wire.HEADER.pack(2, 0) + b"[]")
    left.send({})
    with pytest.raises(wire.Malformed):
        right.receive(deadline=in_time())
    with pytest.raises(wire.Closed):
        right.receive(deadline=in_time())


@pytest.mark.parametrize("lengths", [(wire.MAX_JSON + 1, 0), (2, wire.MAX_PAYLOAD + 1)])
def test_too_long_is_refused_before_it_is_read(ends, lengths):
    left, right = ends
    left.sock.send(struct.pack(">II", *lengths))
    with pytest.raises(wire.Malformed):
        right.receive(deadline=in_time())


def test_nothing_but_json_is_sent(ends):
    with pytest.raises(ValueError):
        ends[0].send({"a": float("nan")})
    with pytest.raises(TypeError):
        ends[0].send({"a": object()})


def test_layout(ends):
    left, right = ends
    left.send({"a": 1}, b"xyz")
    raw = right.sock.recv(100)
    assert raw[:8] == struct.pack(">II", len(raw) - 11, 3)
    assert json.loads(raw[8:-3]) == {"a": 1}
    assert raw[-3:] == b"xyz"
