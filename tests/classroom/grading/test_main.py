import os
import socket
import subprocess
import sys


def test_command_whose_head_is_gone_starts_nothing():
    ours, theirs = socket.socketpair()
    ours.close()
    with theirs:
        told = (str(theirs.fileno()), str(os.getppid()))
        run = subprocess.run(
            [sys.executable, "-m", "classroom.grading", *told],
            pass_fds=(theirs.fileno(),),
            stderr=subprocess.PIPE,
            text=True,
        )
    assert run.stderr == "the parent process is gone already\n"
    assert run.returncode == 1
