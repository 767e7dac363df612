import gzip
import io
import os
import stat
import tarfile
import zipfile
from pathlib import Path

import pytest

from classroom.collect import archive
from classroom.collect.archive import Refused, free, inside, unpack_all


def zipped(files):
    """A zip file with these members: content by name, or by ZipInfo."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as opened:
        for name, content in files.items():
            opened.writestr(name, content)
    return buffer.getvalue()


def link(name):
    info = zipfile.ZipInfo(name)
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    return info


@pytest.fixture
def unpack(tmp_path):
    """Unpacks an archive: what came out, by path, and the complaints. Nothing else is written."""

    def unpack(content, name="class.zip"):
        folder = tmp_path / "in" / "deep"
        folder.mkdir(parents=True)
        (folder / name).write_bytes(content)
        complaints = unpack_all(folder / name, folder / "out")
        assert {path.name for path in folder.iterdir()} <= {name, "out"}
        assert [path.name for path in (tmp_path / "in").iterdir()] == ["deep"]
        assert [path.name for path in tmp_path.iterdir()] == ["in"]
        out = folder / "out"
        files = {p.relative_to(out).as_posix(): p for p in out.rglob("*") if not p.is_dir()}
        assert not any(path.is_symlink() for path in files.values())
        return {name: path.read_bytes() for name, path in files.items()}, complaints

    return unpack


def test_files_keep_their_folders_and_their_time(tmp_path):
    info = zipfile.ZipInfo("a/b.ipynb", (2026, 11, 29, 21, 50, 0))
    (tmp_path / "x.zip").write_bytes(zipped({info: b"1", "c.ipynb": b"2"}))
    assert unpack_all(tmp_path / "x.zip", tmp_path / "x") == []
    assert (tmp_path / "x" / "c.ipynb").read_bytes() == b"2"
    older = (tmp_path / "x" / "a" / "b.ipynb").stat().st_mtime
    info.date_time = (2026, 11, 29, 21, 50, 2)
    (tmp_path / "y.zip").write_bytes(zipped({info: b"1"}))
    unpack_all(tmp_path / "y.zip", tmp_path / "y")
    assert (tmp_path / "y" / "a" / "b.ipynb").stat().st_mtime == older + 2


@pytest.mark.parametrize(
    "name",
    [
        "/etc/passwd",
        "../up",
        "a/../../up",
        "C:\\x",
        "c:/x",
        "\\\\host\\x",
        "..\\up",
        "",
        ".",
        "./.",
    ],
)
def test_paths_that_lead_outside_are_refused(name):
    with pytest.raises(Refused):
        inside(name)


def test_what_leads_outside_is_left_out_and_the_rest_is_unpacked(unpack):
    files, complaints = unpack(
        zipped({"../up": b"", "/root.txt": b"", link("link"): "/etc/passwd", "fine": b"1"})
    )
    assert files == {"fine": b"1"}
    assert complaints == [
        "class.zip: left out '../up': its path leads outside the archive",
        "class.zip: left out '/root.txt': its path leads outside the archive",
        "class.zip: left out 'link': it is a link or a device",
    ]


@pytest.mark.parametrize(
    "kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE]
)
def test_tar_files_are_treated_alike(unpack, kind):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as opened:
        special = tarfile.TarInfo("special")
        special.type, special.linkname = kind, "../../secret"
        opened.addfile(special)
        for name in ("../up", "a/fine"):
            member = tarfile.TarInfo(name)
            member.size, member.mtime = 1, 1e15
            opened.addfile(member, io.BytesIO(b"1"))
    files, complaints = unpack(buffer.getvalue(), "class.tar.gz")
    assert files == {"a/fine": b"1"}
    assert len(complaints) == 2


def test_archives_in_archives_are_unpacked_into_folders_of_their_names(unpack):
    inner = zipped({"deep/m.ipynb": b"1"})
    files, complaints = unpack(zipped({"ada.zip": inner, "x/ada.zip": inner, "ada/m": b"2"}))
    assert files == {
        "ada-1/deep/m.ipynb": b"1", "x/ada/deep/m.ipynb": b"1", "ada/m": b"2"
    }  # fmt: skip
    assert complaints == []


def test_what_is_packed_too_often_stays_packed(unpack):
    content = zipped({"m.ipynb": b"1"})
    for number in range(3):
        content = zipped({f"{number}.zip": content})
    files, complaints = unpack(content)
    assert set(files) == {"2.zip", "2/1.zip", "2/1/0.zip"}
    assert complaints == ["0.zip: packed more than 3 times over; left packed"]


def test_bomb_stays_packed_and_costs_the_others_nothing(unpack, monkeypatch):
    monkeypatch.setattr(archive, "SMALL", 100_000)
    bomb, honest = zipped({f"{i}": bytes(60_000) for i in range(9)}), zipped({"m": os.urandom(2)})
    files, complaints = unpack(zipped({"bomb.zip": bomb, "honest.zip": honest}))
    assert set(files) == {"bomb.zip", "honest/m"}
    assert complaints == ["bomb.zip: it unpacks to far more than its size; left packed"]


def test_bomb_in_layers_is_counted_as_one(unpack, monkeypatch):
    monkeypatch.setattr(archive, "SMALL", 100_000)
    layer = zipped({"zeros": bytes(60_000)})
    bomb = zipped({f"{i}.zip": layer for i in range(9)})
    files, complaints = unpack(zipped({"bomb.zip": bomb}))
    assert sum(name.endswith("zeros") for name in files) == 2
    assert len(complaints) == 7
    assert all("far more than its size" in complaint for complaint in complaints)


def tarred(size, kind=tarfile.REGTYPE):
    """A tar file, and packed, with one member of zeros of this kind."""
    member = tarfile.TarInfo("m")
    member.type, member.size = kind, size
    content = member.tobuf() + bytes(size + -size % 512)
    return content, gzip.compress(content)


@pytest.mark.parametrize("packed", [False, True])
def test_tar_file_whose_header_has_no_end_stays_packed(unpack, packed):
    content = tarred(2 * archive.PIECE, tarfile.GNUTYPE_LONGNAME)[packed]
    files, complaints = unpack(content, "class.tar.gz")
    assert files == {}
    assert complaints == ["class.tar.gz: it is damaged (a header without end); left packed"]


def test_what_is_passed_over_is_a_bomb_too(unpack, monkeypatch):
    monkeypatch.setattr(archive, "SMALL", 100_000)
    monkeypatch.setattr(archive, "RATIO", 1)
    _, content = tarred(10 * archive.PIECE, b"Z")
    _, complaints = unpack(content, "class.tar.gz")
    assert complaints[-1].endswith("it unpacks to far more than its size; left packed")


def test_damaged_tar_file_stays_packed(unpack):
    content = bytearray(tarred(100)[1])
    content[-8] ^= 1  # of the checksum of all
    files, complaints = unpack(bytes(content), "class.tgz")
    assert files == {}
    assert "it is damaged" in complaints[0]


def test_what_lies_too_deep_is_left_out(unpack):
    files, complaints = unpack(zipped({"a/" * 1500 + "m": b"1", "fine": b"1"}))
    assert files == {"fine": b"1"}
    assert "it lies too deep" in complaints[0]


def test_too_many_files_are_a_bomb_too(unpack, monkeypatch):
    monkeypatch.setattr(archive, "FEW", 10)
    files, complaints = unpack(zipped({str(i): b"" for i in range(1000)}))
    assert files == {}
    assert complaints == ["class.zip: it unpacks to far more than its size; left packed"]


@pytest.mark.parametrize(
    "content",
    [b"", b"no zip at all", zipped({"a": b"1" * 99})[:-30]],
    ids=["empty", "no-zip", "cut-off"],  # the zip's own bytes hold the time
)
def test_damaged_archive_stays_packed(unpack, content):
    files, complaints = unpack(zipped({"ada.zip": content, "m": b"1"}))
    assert set(files) == {"ada.zip", "m"}
    assert len(complaints) == 1
    assert complaints[0].startswith("ada.zip: it is damaged")


def test_damaged_member_is_left_out(unpack):
    content = zipped({"broken": os.urandom(100), "m": b"1"})
    files, complaints = unpack(content.replace(content[40:50], b"\xff" * 10))
    assert files == {"m": b"1"}
    assert "left out 'broken': it is damaged" in complaints[0]


def test_locked_member_is_left_out_and_the_archive_is_kept(unpack):
    info = zipfile.ZipInfo("m")
    inner = bytearray(zipped({info: b"1"}))
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        inner[inner.index(signature) + offset] |= 1  # says that it is encrypted
    files, complaints = unpack(zipped({"ada.zip": bytes(inner)}))
    assert set(files) == {"ada.zip"}
    assert "ask for it without a password" in complaints[0]


def test_names_that_no_file_can_have_are_left_out(unpack):
    files, complaints = unpack(zipped({"a": b"1", "a/b": b"2"}))
    assert files == {"a": b"1"}
    assert len(complaints) == 1


def test_names_that_are_too_long_are_shortened(unpack):
    long = "王" * 100 + ".ipynb"
    files, complaints = unpack(zipped({long: b"1", "x" * 300: b"2", f"{'d' * 300}/a": b"3"}))
    assert complaints == []
    assert files == {"王" * 78 + ".ipynb": b"1", "x" * 240: b"2", f"{'d' * 240}/a": b"3"}


def test_a_thousand_of_one_name_are_placed_at_once(tmp_path, monkeypatch):
    looked_at = []
    exists = Path.exists
    monkeypatch.setattr(Path, "exists", lambda path: looked_at.append(path) or exists(path))
    taken = {}
    for _ in range(1000):
        free(tmp_path / "a.txt", taken).touch()
    assert len(list(tmp_path.iterdir())) == 1000
    assert len(looked_at) <= 2000


def test_an_archive_that_takes_too_much_is_left_packed(unpack, monkeypatch):
    monkeypatch.setattr(archive, "_write_members", lambda *_: os.abort())
    files, complaints = unpack(zipped({"a": b"1"}))
    assert files == {}
    assert complaints == ["class.zip: takes more than 1024 MiB of memory; left packed"]


def test_two_members_of_one_name_are_both_kept(unpack):
    content = zipped({"m.ipynb": b"1", "n.ipynb": b"2"}).replace(b"n.ipynb", b"m.ipynb")
    assert unpack(content)[0] == {"m.ipynb": b"1", "m-1.ipynb": b"2"}


def test_many_complaints_are_counted(unpack):
    _, complaints = unpack(zipped({f"../{i}": b"" for i in range(100)}))
    assert len(complaints) == 6
    assert complaints[-1] == "class.zip: left out 95 more"


def test_names_in_any_script(unpack):
    names = ["王小明.ipynb", "e\u0301.ipynb", "تمرين.ipynb", "a\nb.ipynb"]
    files, _ = unpack(zipped(dict.fromkeys(names, b"")))
    assert set(files) == {"王小明.ipynb", "\xe9.ipynb", "تمرين.ipynb", "a_b.ipynb"}


def test_name_without_the_mark_of_utf8_is_read_as_such(unpack):
    content = zipped({"王.ipynb": b""})
    for signature, offset in ((b"PK\x03\x04", 7), (b"PK\x01\x02", 9)):
        position = content.index(signature) + offset
        content = content[:position] + b"\0" + content[position + 1 :]
    assert set(unpack(content)[0]) == {"王.ipynb"}


@pytest.mark.parametrize("name", ["m.ipynb.txt", "m.ipynb.json"])
def test_notebook_saved_as_text_is_a_notebook(unpack, name):
    assert set(unpack(zipped({name: b""}))[0]) == {"m.ipynb"}


def test_free_name(tmp_path):
    for name in ("a.tar.gz", "a-1.tar.gz", "b"):
        (tmp_path / name).touch()
    assert free(tmp_path / "a.tar.gz").name == "a-2.tar.gz"
    assert free(tmp_path / "b").name == "b-1"
    assert free(tmp_path / "c").name == "c"
