import contextlib
import os
import socket

import pytest

from classroom import files
from classroom.files import digest_of, files_in, printable


@pytest.fixture
def folder(tmp_path):
    for name in ("b.csv", "data/a.csv", ".git/config", "node_modules/x/y.js", "skip/c.csv"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("1")
    return tmp_path


def test_files_in_the_order_of_their_names(folder):
    found = files_in(folder, ["sk?p"])
    assert [str(path.relative_to(folder)) for path in found.files] == ["b.csv", "data/a.csv"]
    assert found.left_out == (".git (not part of the work)", "node_modules (not part of the work)")


def test_what_is_no_file_is_said(tmp_path):
    os.mkfifo(tmp_path / "pipe\x1b")
    (tmp_path / "link").symlink_to("/dev/zero")
    with contextlib.chdir(tmp_path), socket.socket(socket.AF_UNIX) as server:
        server.bind("here")
    found = files_in(tmp_path)
    assert found.files == ()
    assert found.left_out == ("here (a socket)", "pipe\N{REPLACEMENT CHARACTER} (a named pipe)")


def test_the_walk_is_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MANY", 5)
    for number in range(9):
        (tmp_path / str(number)).touch()
    found = files_in(tmp_path)
    assert len(found.files) == 5
    assert found.left_out == ("what follows the first 5 files",)


def test_folders_in_folders_are_bounded(tmp_path):
    with contextlib.chdir(tmp_path):
        for _ in range(100):
            os.mkdir("d")
            os.chdir("d")
    assert "deeper than 30 folders" in files_in(tmp_path).left_out[0]


def test_much_of_what_is_left_out_is_counted(tmp_path):
    for number in range(9):
        os.mkfifo(tmp_path / str(number))
    assert files_in(tmp_path).left_out[-1] == "6 more"


def test_a_folder_that_is_not_there(tmp_path):
    found = files_in(tmp_path / "nowhere")
    assert (found.files, found.left_out) == ((), (". (No such file or directory)",))


def test_a_digest_stands_for_names_and_contents(folder):
    before = digest_of([folder])
    assert digest_of([folder]) == before
    assert digest_of([folder], salt="x") != before
    (folder / os.fsdecode(b"\xff")).write_text("")
    named = digest_of([folder])
    assert named != before
    (folder / "b.csv").write_text("2")
    assert digest_of([folder]) != named


def test_nothing_steers_a_terminal():
    assert printable("a\x1b[31m\n\udcff王") == "a\ufffd[31m\ufffd\ufffd王"
