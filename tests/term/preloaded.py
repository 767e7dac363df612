"""Programs of a course's environment, such as `nbgrader`, that start at once.

Importing nbgrader takes seconds, for every command. Here one process has imported it and forks for
each of them, wherever it comes from: a shell, make. As ever, a command has its own process, with
its arguments, folder, environment, files and exit status.
"""

import json
import os
import runpy
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

PROGRAMS = {
    "python": 'if [ "$1" != -m ]; then exec "{python}" "$@"; fi; shift; exec {ask} "$@"',
    "nbgrader": 'exec {ask} nbgrader "$@"',
    "attention-lab": 'exec {ask} classroom.command "$@"',
}


@contextmanager
def programs(folder: Path, *modules: str, path: str = "") -> Iterator[None]:
    """Put the programs into a folder; they work as long as the context lasts.

    modules: what the process imports beforehand. path: for PYTHONPATH.
    """
    with TemporaryDirectory() as scratch:
        address = f"{scratch}/socket"
        ask = f'"{sys.executable}" -IS "{__file__}" ask "{address}"'
        folder.mkdir(parents=True, exist_ok=True)
        for name, line in PROGRAMS.items():
            script = folder / name
            script.write_text(f"#!/bin/sh\n{line.format(python=sys.executable, ask=ask)}\n")
            script.chmod(0o755)
        server = subprocess.Popen(
            [sys.executable, __file__, "serve", address, *modules],
            env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": path},
            stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        try:
            assert server.stdout.readline() == "ready\n"
            yield
        finally:
            server.terminate()
            server.wait()
            server.stdout.close()


def serve(address: str, *modules: str) -> None:
    """Wait for commands. Returns in the processes that have run one."""
    for module in modules:
        __import__(module)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody asks how a supervisor ended
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(address)
        server.listen()
        print("ready", flush=True)
        while True:
            client, _ = server.accept()
            if os.fork() == 0:
                break
            client.close()
    supervise(client)


def supervise(client: socket.socket) -> None:
    """Run one command in a process of its own and tell its exit status."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    message, files, *_ = socket.recv_fds(client, 1 << 20, 3)
    command = os.fork()
    if command == 0:
        client.close()
        run(json.loads(message), files)
    else:
        _, status = os.waitpid(command, 0)
        client.sendall(bytes([os.waitstatus_to_exitcode(status) & 0xFF]))
        os._exit(0)


def run(asked: dict, files: list[int]) -> None:
    """Become the command: a module, run as `python -m` does it."""
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.chdir(asked["folder"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    module, *arguments = asked["command"]
    sys.argv = [module, *arguments]
    sys.path[0] = asked["folder"]
    sys.modules.pop(module, None)
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def ask(address: str, *command: str) -> int:
    """Have the command run with this process's files; its exit status."""
    asked = {"command": command, "folder": os.getcwd(), "environment": dict(os.environ)}
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(address)
        socket.send_fds(server, [json.dumps(asked).encode()], [0, 1, 2])
        return server.recv(1)[0]


if __name__ == "__main__":
    sys.exit({"serve": serve, "ask": ask}[sys.argv[1]](*sys.argv[2:]))
