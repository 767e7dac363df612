import pytest

from classroom.editions.package import copy_package, package_files


@pytest.fixture
def code(tmp_path):
    folder = tmp_path / "src" / "attention_lab"
    (folder / "look").mkdir(parents=True)
    (folder / "__init__.py").write_bytes(b"one = 1\n")
    (folder / "look" / "look.js").write_bytes(b"// look\n")
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "x.pyc").write_bytes(b"\0")
    return folder


def test_files_are_those_of_the_package_in_order(code):
    assert list(package_files(code).items()) == [
        ("__init__.py", b"one = 1\n"),
        ("look/look.js", b"// look\n"),
    ]


def test_a_copy_is_equal(code, tmp_path):
    copy_package(code, tmp_path / "release")
    assert package_files(tmp_path / "release" / "attention_lab") == package_files(code)


def test_a_copy_loses_what_the_package_lost(code, tmp_path):
    copy_package(code, tmp_path)
    (code / "look" / "look.js").unlink()
    copy_package(code, tmp_path)
    assert list(package_files(tmp_path / "attention_lab")) == ["__init__.py"]


def test_a_copy_takes_changes_and_leaves_the_rest_alone(code, tmp_path):
    copy_package(code, tmp_path)
    same = tmp_path / "attention_lab" / "__init__.py"
    before = same.stat().st_mtime_ns
    (code / "look" / "look.js").write_bytes(b"// look again\n")
    copy_package(code, tmp_path)
    assert (tmp_path / "attention_lab" / "look" / "look.js").read_bytes() == b"// look again\n"
    assert same.stat().st_mtime_ns == before
