import os

import nbformat
import pytest

from classroom.repair.reading import Unreadable
from classroom.repair.work import find_work

STUB = "def double(x):\n    raise NotImplementedError"
OTHER = "def double(x):\n    return x + x"


@pytest.fixture
def folder(course, released):
    path = course.hand_in("ada")
    path.unlink()
    return path.parent


@pytest.fixture
def save(course, folder):
    """`save(name, answer, age)`: put a file into the folder, so many seconds old."""

    def save(name, answer="def double(x):\n    return 2 * x", age=0):
        notebook = nbformat.read(course.source(), as_version=4)
        notebook.cells[1].source = answer
        nbformat.write(notebook, folder / name)
        os.utime(folder / name, (1_000_000 - age, 1_000_000 - age))

    return save


@pytest.fixture
def find(folder, released):
    def find():
        work = find_work(folder, released.lesson)
        return work.path.name, list(work.flags)

    return find


@pytest.mark.parametrize(
    "name", ["small.ipynb", "small (1).ipynb", "Copy of Small.ipynb", "x.ipynb"]
)
def test_one_file_whatever_it_is_called(save, find, name):
    save(name)
    assert find() == (name, [])


def test_a_worked_file_counts_before_a_pristine_one(save, find):
    save("small.ipynb", STUB)
    save("small (1).ipynb", age=60)
    assert find() == ("small (1).ipynb", [])


def test_of_files_that_are_alike_the_one_with_the_right_name(save, find):
    save("small.ipynb", age=60)
    save("small-Copy1.ipynb")
    assert find() == ("small.ipynb", [])


def test_of_two_worked_ones_the_newest_and_a_human_is_told(save, find):
    save("small.ipynb", age=60)
    save("small (1).ipynb", OTHER)
    name, [flag] = find()
    assert name == "small (1).ipynb"
    assert flag.endswith("small.ipynb holds other answers")


def test_notebooks_of_another_kind_do_not_count(save, folder, find):
    save("small.ipynb", age=60)
    nbformat.write(nbformat.v4.new_notebook(), folder / "notes.ipynb")
    assert find() == ("small.ipynb", [])


def test_what_macs_put_beside_does_not_count(save, folder, find):
    save("small.ipynb")
    (folder / "._small.ipynb").write_bytes(b"\0\5\x16\7")
    assert find() == ("small.ipynb", [])


def test_an_unreadable_file_beside_is_told(save, folder, find):
    save("small (1).ipynb")
    (folder / "small.ipynb").write_text("{")
    name, [flag] = find()
    assert name == "small (1).ipynb"
    assert "since small.ipynb ends in the middle" in flag


def test_a_guessed_encoding_is_told(save, folder, find):
    save("small.ipynb", "# é")
    path = folder / "small.ipynb"
    path.write_bytes(path.read_text(encoding="utf-8").encode("latin-1"))
    assert "look at letters with accents" in find()[1][0]


def test_no_work_at_all(folder, find):
    with pytest.raises(Unreadable, match="no notebook in the folder"):
        find()
    nbformat.write(nbformat.v4.new_notebook(), folder / "notes.ipynb")
    (folder / "small.ipynb").write_text("")
    reason = r"small\.ipynb is empty: ask for it again; notes\.ipynb holds no cell of the lesson"
    with pytest.raises(Unreadable, match=reason):
        find()
