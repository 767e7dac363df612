"""Messages between processes that do not trust each other: a JSON object, then raw bytes.

Layout: length of the JSON, length of the bytes (4 bytes each, big endian), JSON, bytes. The reader
sets the limits; whatever breaks them ends the conversation.

The JSON is in UTF-8, so that a text is about as long on its way as it is. A half of a surrogate
pair, which UTF-8 does not have, is sent as a question mark.
"""

import json
import math
import re
import socket
import struct
import time
from itertools import islice

HEADER = struct.Struct(">II")
MAX_JSON = 64 << 20
MAX_PAYLOAD = 64 << 20
MAX_PARTS = 1 << 19  # of the JSON; what Python makes of `[],` is twenty times as large
MAX_CHUNK = 1 << 20
SIGNS = (b"[", b"{", b",", b":")
PART = re.compile(rb'"(?:[^"\\]++|\\.)*+"?|[\[{,:]', re.DOTALL)  # a whole text, or a sign


class Closed(Exception):
    """The other side is gone."""


class TooLate(Exception):
    """The other side did not answer before the deadline."""


class Malformed(Exception):
    """What the other side sent is no message."""


class Channel:
    """One end of a conversation over a stream socket.

    Deadlines are readings of `time.monotonic()`; None waits for ever.
    """

    def __init__(self, sock: socket.socket):
        self.sock = sock
        self.received = 0  # bytes of all messages so far
        self._arrived = bytearray()  # of the next one

    def send(self, message: dict, payload: bytes = b"", *, give=None, deadline=None):
        """Send `message` and `payload`; `give` is a socket to hand over to the other side. What is
        too late ends the conversation, since a part of it may have been sent."""
        text = json.dumps(message, allow_nan=False, ensure_ascii=False).encode(errors="replace")
        head = HEADER.pack(len(text), len(payload)) + text
        try:
            self.sock.settimeout(_left(deadline))
            if give is not None:
                sent = socket.send_fds(self.sock, [head[:1]], [give.fileno()])
                head = head[sent:]
            self.sock.sendall(head)
            if payload:
                self.sock.sendall(payload)  # by itself: it may be large, and need not be copied
        except (TimeoutError, TooLate):
            self.close()
            raise TooLate from None
        except OSError as error:
            raise Closed(str(error)) from None

    def receive(self, *, deadline=None) -> tuple[dict, bytes]:
        """Return the next message and its payload. Raises Closed, Malformed, or TooLate, after
        which the same message can be waited for again."""
        try:
            return self._next(deadline)
        except Malformed:
            self.close()
            raise

    def receive_with_socket(self) -> tuple[dict, bytes, socket.socket | None]:
        """As `receive`, with the socket that came along. Only for messages from who is trusted:
        nobody outside takes a socket from a sandbox."""
        first, descriptors, _, _ = socket.recv_fds(self.sock, 1, 1)
        if not first:
            raise Closed
        self._arrived += first
        given = socket.socket(fileno=descriptors[0]) if descriptors else None
        return *self.receive(), given

    def close(self):
        self.sock.close()

    def _next(self, deadline):
        self._wait_for(HEADER.size, deadline)
        json_length, payload_length = HEADER.unpack_from(self._arrived)
        if json_length > MAX_JSON or payload_length > MAX_PAYLOAD:
            raise Malformed("too long")
        end = HEADER.size + json_length
        self._wait_for(end + payload_length, deadline)
        whole, self._arrived = memoryview(self._arrived), bytearray()
        self.received += len(whole)
        return _parse(bytes(whole[HEADER.size : end])), bytes(whole[end:])

    def _wait_for(self, size, deadline):
        """Wait until the first `size` bytes of the next message have come."""
        while (missing := size - len(self._arrived)) > 0:
            try:
                self.sock.settimeout(_left(deadline))
                chunk = self.sock.recv(min(missing, MAX_CHUNK))
            except TimeoutError:
                raise TooLate from None
            except OSError as error:
                raise Closed(str(error)) from None
            if not chunk:
                raise Closed
            self._arrived += chunk


def _left(deadline):
    if deadline is None:
        return None
    left = deadline - time.monotonic()
    if left <= 0:
        raise TooLate
    return left


def _parse(text):
    if _has_many_parts(text):
        raise Malformed("too many parts")
    try:
        message = json.loads(text.decode(), parse_constant=_refuse, parse_float=_finite)
    except (ValueError, RecursionError):
        raise Malformed("no JSON") from None
    if type(message) is not dict:
        raise Malformed("no JSON object")
    return message


def _has_many_parts(text):
    if len(text) <= MAX_PARTS:
        return False
    signs = sum(map(text.count, SIGNS))  # also those within texts, as in a printed tensor
    return signs > MAX_PARTS and any(islice(PART.finditer(text), MAX_PARTS, None))


def _refuse(constant):
    raise ValueError(constant)


def _finite(text):
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(text)
    return number
