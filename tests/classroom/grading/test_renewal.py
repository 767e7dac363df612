"""What `test_folders` does not see of the process that mounts."""

import errno

import pytest

from classroom.grading import renewal


def test_places_are_those_that_a_sandbox_may_write_into():
    from classroom.grading.bubblewrap import WORK

    assert str(WORK).encode() in renewal.PLACES


def test_refused_mount_is_said_with_the_call(monkeypatch):
    def mount(*arguments):
        renewal.ctypes.set_errno(errno.EPERM)
        return -1

    with pytest.raises(PermissionError, match=r"mount.*tmpfs"):
        renewal._call(mount, b"tmpfs", b"/scratch")
