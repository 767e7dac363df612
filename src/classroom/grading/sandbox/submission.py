"""The process of one submission: runs its cells, and forks when an answer is to be observed.

From the first cell on nothing it says is believed by anybody.
"""

import contextlib
import gc
import os
import signal
import socket
import sys
import traceback
from pathlib import Path

from attention_lab import NotWrittenYet, observation
from attention_lab.heatmap import drawn

from . import pictures, plain, process, wire


def serve(channel: wire.Channel, shell, folder: Path):
    """Answer the requests on `channel` until it closes. `folder` is the working folder."""
    _begin(folder)
    observers = {}
    while True:
        message, payload, given = channel.receive_with_socket()
        match message["do"]:
            case "write":
                _write(folder, message["name"], payload)
                channel.send({})
            case "run":
                channel.send(_run(shell, message["source"]))
            case "define":
                channel.send(_define(shell, message["source"]))
            case "pictures":
                channel.send(*pictures.to_message(drawn.kept()))
            case "observe":
                observers[message["number"]] = _fork_observer(channel, given, shell.user_ns)
                channel.send({})
            case "stop observing":
                observer = observers.pop(message["number"])
                os.kill(observer, signal.SIGKILL)
                os.waitpid(observer, 0)
                channel.send({})


def _begin(folder):
    os.setsid()
    process.silence()
    process.reseed()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.chdir(folder)
    sys.path.insert(0, "")


def _write(folder, name, content):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def _run(shell, source):
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        count, outputs = shell.run(source)
        defined, missing = shell.rescue(source) if shell.error is not None else ([], [])
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    if isinstance(shell.error, NotWrittenYet):  # it would have stopped anywhere: nothing to tell
        defined, missing = [], []
    return {"count": count, "outputs": outputs, "defined": defined, "missing": missing}


def _define(shell, source):
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        shell.define(source)
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    return {"count": 0, "outputs": []}


# --- observing: in a fork of its own, so that one graded cell cannot influence the next ---


def _fork_observer(channel, given: socket.socket, names: dict) -> int:
    parent = os.getpid()
    child = os.fork()
    if child:
        given.close()
        return child
    try:
        gc.freeze()
        process.die_with_parent(parent)
        channel.close()
        with contextlib.suppress(wire.Closed):
            serve_observer(wire.Channel(given), names)
    finally:
        os._exit(0)


def serve_observer(channel: wire.Channel, names: dict):
    """Answer what the judge asks about the submission's `names`, until `channel` closes."""
    surroundings = None
    while True:
        message, payload = channel.receive()
        name = message["name"]
        match message["do"]:
            case "describe":
                channel.send(*_describe(names, name))
            case "observe":
                channel.send({}, observation.observe_encoded(names[name], payload))
            case "call":
                channel.send(*_call(names[name], payload))
            case "begin to edit":
                definition = observation.Definition(name, message["text"], 1)
                given = message["given"]
                surroundings = observation.Surroundings(names[name], definition, given)
                channel.send({})
            case "observe edited":
                text, again = message["text"], message["again"]
                reply = observation.observe_edited(surroundings, text, payload, again)
                channel.send({}, reply)


def _describe(names, name) -> tuple[dict, bytes]:
    if name not in names:
        return {"is": "missing"}, b""
    value = names[name]
    if callable(value):
        return {"is": "callable"}, b""
    try:
        header, content = plain.to_message(value)
    except (TypeError, ValueError):
        return {"is": "something else", "type": type(value).__name__[:80]}, b""
    return {"is": "data", **header}, content


def _call(function, payload) -> tuple[dict, bytes]:
    try:
        return plain.to_message(function(*observation.decode(payload, plain.ARGUMENTS)))
    except BaseException as error:
        return {"failed": _last_line(error)}, b""


def _last_line(error):
    return "".join(traceback.format_exception_only(error)).strip().splitlines()[-1][:1000]
