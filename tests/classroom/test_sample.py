import ast
from pathlib import Path

import nbformat
import pytest

from classroom.sample import hand_in, make_class, read_answers

REPOSITORY = Path(__file__).parents[2]
FILES = sorted((REPOSITORY / "examples" / "class").glob("*.py"))


def test_cells_are_read_by_name():
    text = "import math\n\n# %% double\ndef double(x):\n\n    return 2 * x\n\n\n# %% halve\n"
    assert read_answers(text) == {"double": "def double(x):\n\n    return 2 * x", "halve": ""}


def test_a_file_without_cells_answers_nothing():
    assert read_answers('"""Handed in as it was released."""\n') == {}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("# %%\npass\n", "a cell has no name"),
        ("# %% double\n# %% double\n", "two cells are named double"),
    ],
)
def test_cells_must_be_told_apart(text, message):
    with pytest.raises(ValueError, match=message):
        read_answers(text)


def test_answers_go_where_they_belong(course):
    released = nbformat.read(course.source(), as_version=4)
    answered = hand_in(released, {"double": "double = lambda x: x + x"})
    assert answered.cells[1].source == "double = lambda x: x + x"
    changed = [a.id for a, b in zip(answered.cells, released.cells, strict=True) if a != b]
    assert changed == ["double"]


def test_an_answer_to_nothing_is_refused(course):
    released = nbformat.read(course.source(), as_version=4)
    with pytest.raises(ValueError, match="no solution cell is named triple: choose from double"):
        hand_in(released, {"triple": ""})


@pytest.fixture
def repository(course):
    """The small course as a repository: with a release, settings and two files of answers."""
    release = course.root / "release" / "small"
    release.mkdir(parents=True)
    (release / "small.ipynb").write_bytes(course.source().read_bytes())
    (course.root / "nbgrader_config.py").write_text("")
    (course.root / "answers").mkdir()
    (course.root / "answers" / "ada.py").write_text("# %% double\ndouble = abs\n")
    (course.root / "answers" / "bob.py").write_text("")
    return course.root


def test_every_file_becomes_a_submission(repository):
    make_class(repository / "answers", repository, repository / "course")
    submitted = repository / "course" / "submitted"
    assert sorted(path.name for path in submitted.iterdir()) == ["ada", "bob"]
    ada = nbformat.read(submitted / "ada" / "small" / "small.ipynb", as_version=4)
    assert ada.cells[1].source == "double = abs"


def test_files_take_turns_in_a_class_of_any_size(repository):
    released = repository / "release" / "small" / "small.ipynb"
    released.with_name("second.ipynb").write_bytes(released.read_bytes())
    make_class(repository / "answers", repository, repository / "course", count=3)
    found = sorted((repository / "course" / "submitted").glob("*/*/*.ipynb"))
    cells = [nbformat.read(path, as_version=4).cells[1].source for path in found]
    assert [path.parts[-3] for path in found[::2]] == [f"student-00000{n}" for n in (1, 2, 3)]
    assert [cell == "double = abs" for cell in cells] == [True, True, False, False, True, True]


def test_a_class_is_made_afresh(repository):
    (repository / "course").mkdir()
    (repository / "course" / "gradebook.db").write_text("of last week")
    make_class(repository / "answers", repository, repository / "course")
    assert not (repository / "course" / "gradebook.db").exists()


def test_a_file_that_does_not_fit_is_named(repository):
    (repository / "answers" / "bob.py").write_text("# %% triple\n")
    with pytest.raises(ValueError, match=r"bob\.py: no solution cell is named triple"):
        make_class(repository / "answers", repository, repository / "course")


def test_a_class_needs_somebody(repository):
    with pytest.raises(FileNotFoundError, match="no files of answers in"):
        make_class(repository / "release", repository, repository / "course")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_the_files_of_answers_are_python_and_say_what_they_are(file):
    assert ast.get_docstring(ast.parse(file.read_text(encoding="utf-8")))
