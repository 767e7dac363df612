import pytest

from attention_lab import edition
from attention_lab.edition import OtherEdition, expect, fingerprint_of, package_files

FILES = {"a.py": b"one\ntwo\n", "b/c.css": b"three\n"}


def test_any_change_gives_another_fingerprint():
    changed = [
        {**FILES, "a.py": b"one\ntwo!\n"},
        {**FILES, "d.py": b""},
        {"a.py": FILES["a.py"]},
        {"a.py": b"three\n", "b/c.css": FILES["a.py"]},
    ]
    assert len({fingerprint_of(files) for files in [FILES, *changed]}) == 5


def test_neither_order_nor_line_ends_matter():
    windows = {name: FILES[name].replace(b"\n", b"\r\n") for name in reversed(FILES)}
    assert fingerprint_of(windows) == fingerprint_of(FILES)


def test_caches_and_checkpoints_are_no_files_of_the_package(tmp_path):
    for name in ["a.py", "__pycache__/a.pyc", "b/.ipynb_checkpoints/c.py"]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"x\n")
    assert package_files(tmp_path) == {"a.py": b"x\n"}


def test_the_package_as_it_lies_here_is_accepted(tmp_path, monkeypatch):
    monkeypatch.setattr(edition, "__file__", str(tmp_path / "edition.py"))
    (tmp_path / "edition.py").write_bytes(b"x\n")
    expect(fingerprint_of({"edition.py": b"x\n"}))


def test_another_edition_is_refused_in_three_lines(tmp_path, monkeypatch):
    monkeypatch.setattr(edition, "__file__", str(tmp_path / "edition.py"))
    with pytest.raises(OtherEdition, match="Set-up section") as caught:
        expect("0" * 12)
    (shown,) = caught.value._render_traceback_()
    refused, place, remedy = shown.splitlines()
    assert place.strip() == str(tmp_path)
    assert max(len(refused), len(remedy)) < 90  # a narrow page breaks longer ones anywhere


def test_while_grading_the_courses_own_package_counts(monkeypatch):
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    expect("0" * 12)
