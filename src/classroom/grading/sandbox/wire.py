"""Messages between processes that do not trust each other: a JSON object, then raw bytes.

Layout: length of the JSON, length of the bytes (4 bytes each, big endian), JSON, bytes. The reader
sets the limits; whatever breaks them ends the conversation.
"""

import json
import math
import socket
import struct
import time

HEADER = struct.Struct(">II")
MAX_JSON = 64 << 20
MAX_PAYLOAD = 64 << 20
MAX_CHUNK = 1 << 20


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
        self.received = 0  # bytes so far

    def send(self, message: dict, payload: bytes = b"", *, give=None, deadline=None):
        """Send `message` and `payload`; `give` is a socket to hand over to the other side."""
        text = json.dumps(message, allow_nan=False).encode()
        head = HEADER.pack(len(text), len(payload)) + text
        try:
            self.sock.settimeout(_left(deadline))
            if give is not None:
                sent = socket.send_fds(self.sock, [head[:1]], [give.fileno()])
                head = head[sent:]
            self.sock.sendall(head)
            if payload:
                self.sock.sendall(payload)  # by itself: it may be large, and need not be copied
        except TimeoutError:
            raise TooLate from None
        except OSError as error:
            raise Closed(str(error)) from None

    def receive(self, *, deadline=None) -> tuple[dict, bytes]:
        """Return the next message and its payload. Raises Closed, TooLate or Malformed."""
        return self._body(self._exactly(HEADER.size, deadline), deadline)

    def receive_with_socket(self) -> tuple[dict, bytes, socket.socket | None]:
        """As `receive`, with the socket that came along. Only for messages from who is trusted:
        nobody outside takes a socket from a sandbox."""
        first, descriptors, _, _ = socket.recv_fds(self.sock, 1, 1)
        if not first:
            raise Closed
        given = socket.socket(fileno=descriptors[0]) if descriptors else None
        header = first + self._exactly(HEADER.size - 1, None)
        return *self._body(header, None), given

    def close(self):
        self.sock.close()

    def _body(self, header, deadline):
        json_length, payload_length = HEADER.unpack(header)
        if json_length > MAX_JSON or payload_length > MAX_PAYLOAD:
            raise Malformed("too long")
        message = _parse(self._exactly(json_length, deadline))
        return message, self._exactly(payload_length, deadline)

    def _exactly(self, size, deadline):
        chunks = []
        while size:
            try:
                self.sock.settimeout(_left(deadline))
                chunk = self.sock.recv(min(size, MAX_CHUNK))
            except TimeoutError:
                raise TooLate from None
            except OSError as error:
                raise Closed(str(error)) from None
            if not chunk:
                raise Closed
            chunks.append(chunk)
            size -= len(chunk)
            self.received += len(chunk)
        return b"".join(chunks)


def _left(deadline):
    if deadline is None:
        return None
    left = deadline - time.monotonic()
    if left <= 0:
        raise TooLate
    return left


def _parse(text):
    try:
        message = json.loads(text, parse_constant=_refuse, parse_float=_finite)
    except (ValueError, RecursionError):
        raise Malformed("no JSON") from None
    if type(message) is not dict:
        raise Malformed("no JSON object")
    return message


def _refuse(constant):
    raise ValueError(constant)


def _finite(text):
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(text)
    return number
