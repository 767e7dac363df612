"""What a submission sees of its sandbox does not depend on what an earlier one did there."""

import pytest
from submissions import notebook, text

SEVERAL = "import os, pathlib, socket, ctypes\n"
# By what is left behind where there is a note to leave, and how it would be read.
NOTES = {
    "label": (
        "[os.setxattr(p, 'user.note', b'hello') for p in ('/scratch', '/dev/shm')]",
        "[os.listxattr(p) for p in ('/scratch', '/dev/shm')]",
    ),
    "mode": (
        "[os.chmod(p, 0o711) for p in ('/scratch', '/dev/shm')]",
        "[os.stat(p).st_mode for p in ('/scratch', '/dev/shm')]",
    ),
    "time": (
        "[os.utime(p, (1, 1)) for p in ('/scratch', '/dev/shm', '/scratch/home', '.')]",
        "[os.stat(p).st_mtime < 2 for p in ('/scratch', '/dev/shm', '/scratch/home', '.')]",
    ),
    "flag of a folder": (
        "import fcntl\nfcntl.ioctl(os.open('/scratch', 0), 0x40086602, b'\\x40' + bytes(7))",
        "import fcntl\nfcntl.ioctl(os.open('/scratch', 0), 0x80086601, bytes(8))",
    ),
    "number of files": (
        "[(pathlib.Path(p, 'a').touch(), os.remove(p + '/a'))"
        " for p in ('/scratch', '/dev/shm') for _ in range(40)]",
        "[(pathlib.Path(p, 'a').touch(), os.stat(p + '/a').st_ino)"
        " for p in ('/scratch', '/dev/shm')]",
    ),
    "number of processes": (
        "[os.waitpid(os.posix_spawn('/bin/true', ['true'], {}), 0) for _ in range(20)]",
        "os.getpid() % 128",
    ),
    "number of very many processes": (
        "[os.waitpid(os.posix_spawn('/bin/true', ['true'], {}), 0) for _ in range(300)]",
        "os.getpid() % 128",
    ),
    "port": (
        "server = socket.create_server(('127.0.0.1', 4444))\n"
        "near = socket.create_connection(('127.0.0.1', 4444))\n"
        "server.accept()[0].close()",
        "[open(f'/proc/net/{kind}').read() for kind in ('tcp', 'udp', 'dev', 'snmp', 'netstat')]",
    ),
    "name of a socket": (
        "kept = socket.socket(socket.AF_UNIX)\nkept.bind('\\0note')\nkept.listen()",
        "socket.socket(socket.AF_UNIX).bind('\\0note')",
    ),
    "terminal": (
        "kept = [os.openpty() for _ in range(3)]",
        "[os.ttyname(end) for end in os.openpty()], os.listdir('/dev/pts')",
    ),
    "lock": (
        "import fcntl\nfcntl.flock(os.open('/usr/bin/env', 0), fcntl.LOCK_EX)\n"
        "if os.fork() == 0:\n    os.setsid()\n    __import__('time').sleep(60)",
        "import fcntl\nfcntl.flock(os.open('/usr/bin/env', 0), fcntl.LOCK_EX | fcntl.LOCK_NB)",
    ),
}


@pytest.mark.parametrize(("leave", "find"), NOTES.values(), ids=NOTES)
def test_no_note_is_found(worker, leave, find):
    worker.grade(notebook({}, before=SEVERAL))
    found = [read(worker, find)]
    for _ in range(2):
        worker.grade(notebook({}, before=SEVERAL + leave))
        found.append(read(worker, find))
    assert found[0] == found[1] == found[2]


def read(worker, find):
    *before, last = find.split("\n")
    shown = text(worker.grade(notebook({}, before="\n".join([SEVERAL, *before, f"print({last})"]))))
    assert "stdout" in shown or "OSError" in shown or "None" in shown
    return shown
