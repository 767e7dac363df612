import hashlib
import sys
from types import SimpleNamespace

import pytest

from attention_lab.pretrained import files
from attention_lab.pretrained.files import PACKAGE, Unavailable, find_files

CONTENT = {"model.safetensors": b"weights", "tokenizer.json": b"words"}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Small files, known by their digests, in the place of the real ones."""
    for name, content in CONTENT.items():
        (tmp_path / name).write_bytes(content)
        monkeypatch.setitem(files.SHA256, name, hashlib.sha256(content).hexdigest())
    return tmp_path


@pytest.fixture
def no_package(monkeypatch):
    monkeypatch.setattr(files, "_package_folder", lambda: None)


def install_hub(monkeypatch, download):
    monkeypatch.setitem(sys.modules, "huggingface_hub", SimpleNamespace(hf_hub_download=download))


def test_the_package_is_found_without_being_imported():
    found = find_files()
    assert found.weights.parts[-3:] == (PACKAGE, "model", "model.safetensors")
    assert PACKAGE in found.origin
    assert PACKAGE not in sys.modules


def test_the_package_comes_before_the_hub(folder, monkeypatch):
    monkeypatch.setattr(files, "_package_folder", lambda: folder)
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    assert find_files().tokenizer == folder / "tokenizer.json"


def test_without_the_package_the_hub_is_asked(folder, no_package, monkeypatch, capsys):
    asked = []

    def download(repository, name, revision):
        asked.append((repository, name, revision))
        return str(folder / name)

    install_hub(monkeypatch, download)
    assert find_files().weights == folder / "model.safetensors"
    assert asked == [(files.REPOSITORY, name, files.REVISION) for name in CONTENT]
    assert "90 MB" in capsys.readouterr().out


def test_without_package_and_hub(no_package, monkeypatch):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(Unavailable, match=r"`make lab` .* installs"):
        find_files()


def test_without_a_network(no_package, monkeypatch):
    def download(*_, **__):
        raise ConnectionError("no route to host")

    install_hub(monkeypatch, download)
    with pytest.raises(Unavailable, match=r"could not be reached \(ConnectionError\)"):
        find_files()


@pytest.mark.parametrize("name", CONTENT)
def test_a_file_that_is_another_is_left_unread(name, folder, monkeypatch):
    monkeypatch.setattr(files, "_package_folder", lambda: folder)
    (folder / name).write_bytes(b"something else")
    with pytest.raises(Unavailable, match=f"{name} is not the file .* left unread"):
        find_files()


def test_a_file_that_is_missing(folder, monkeypatch):
    monkeypatch.setattr(files, "_package_folder", lambda: folder)
    (folder / "tokenizer.json").unlink()
    with pytest.raises(Unavailable, match=r"tokenizer\.json cannot be read"):
        find_files()
