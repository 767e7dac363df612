"""A PostgreSQL server of the tests' own, without network, and empty databases in it."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from itertools import count
from pathlib import Path

import psycopg
import pytest

USER = "postgres"  # made by Debian's package; the server refuses to be run by root
PROGRAMS = "/usr/lib/postgresql"  # where Debian keeps them, outside PATH, a folder a version


@pytest.fixture(scope="session")
def new_database():
    """Makes an empty database; returns its URL, as nbgrader's `db_url` takes it."""
    with tempfile.TemporaryDirectory() as folder:
        settings = {"cwd": folder, "stdout": subprocess.DEVNULL, "stderr": subprocess.STDOUT}
        if os.getuid() == 0:
            user = pwd.getpwnam(USER)
            os.chown(folder, user.pw_uid, user.pw_gid)
            settings |= {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": ()}
        make = [_program("initdb"), "--auth=trust", f"--username={USER}"]
        make += ["--encoding=UTF8", "--no-sync", "data"]
        subprocess.run(make, check=True, **settings)
        serve = [_program("postgres"), "-D", "data", "-k", folder, "-F", "-h", ""]
        server = subprocess.Popen(serve, **settings)
        try:
            with _connected(folder, server) as connection:
                numbers = count(1)

                def new_database() -> str:
                    name = f"gradebook{next(numbers)}"
                    connection.execute(f"create database {name}")
                    return f"postgresql+psycopg://{USER}@/{name}?host={folder}"

                yield new_database
        finally:
            server.send_signal(signal.SIGINT)  # "fast": it does not wait for who is connected
            server.wait(timeout=30)


def _program(name: str) -> str:
    newest_first = sorted(Path(PROGRAMS).glob("*/bin"), reverse=True)
    path = os.pathsep.join([os.environ["PATH"], *map(str, newest_first)])
    program = shutil.which(name, path=path)
    assert program, "PostgreSQL's server is missing: sudo apt-get install postgresql"
    return program


def _connected(folder: str, server: subprocess.Popen) -> psycopg.Connection:
    deadline = time.monotonic() + 60
    while True:
        try:
            return psycopg.connect(host=folder, user=USER, autocommit=True)
        except psycopg.OperationalError:
            assert server.poll() is None, "PostgreSQL's server ended while it started"
            assert time.monotonic() < deadline, "PostgreSQL's server does not answer"
            time.sleep(0.05)
