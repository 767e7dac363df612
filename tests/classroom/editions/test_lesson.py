from pathlib import Path

import pytest

from classroom.editions.lesson import LessonError, read_lesson

HEADER = "# ---\n# jupyter:\n#   assignment: ps1\n# ---\n\n"


@pytest.fixture
def read(tmp_path: Path):
    def read(text, header=HEADER):
        path = tmp_path / "lesson.py"
        path.write_text(header + text)
        return read_lesson(path)

    return read


def test_knows_its_names(lesson):
    assert (lesson.name, lesson.assignment) == ("tiny", "ps1")
    assert (lesson.folder / "bars.svg").is_file()


def test_ids_are_the_hand_written_ones(lesson):
    assert [cell.id for cell in lesson.cells] == [
        "title",
        "setup",
        "double-exercise",
        "double",
        "look-at-double",
        "test_double_value",
        "halve-exercise",
        "halve",
        "test_halve",
        "third",
        "check-third",
        "look-at-third",
    ]


def test_keeps_the_options_and_nothing_of_jupytext(lesson):
    options = {cell.id: dict(cell.metadata) for cell in lesson.cells}
    assert options["setup"] == {"id": "setup", "tags": ["setup"]}
    assert options["double"] == {"grade_id": "double", "solution": True}
    assert options["test_double_value"] == {"grade_id": "test_double_value", "points": 2}


def test_markdown_and_magics_are_uncommented(lesson):
    assert lesson.cells[0].source.startswith("# Doubling\n\n![A bar")
    assert lesson.cells[1].source.startswith("%matplotlib inline\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("# %%\nx = 1", "lesson.py: the cell 'x = 1' has no id"),
        ('# %% id=""\nx = 1', "the cell 'x = 1' has no id"),
        ('# %% id="a" point=2\nx = 1', "unknown options: point"),
        ('# %% id="a" grade_id="b"\nx = 1', "'b' has an id that differs from its grade_id"),
        ('# %% [raw] id="a"\n# x', "neither code nor"),
        ("x = 1", "the cell 'x = 1' has no id"),
    ],
)
def test_refuses_a_cell_that_is_not_settled(read, text, message):
    with pytest.raises(LessonError, match=message):
        read(text)


def test_refuses_a_lesson_without_an_assignment(read):
    with pytest.raises(LessonError, match="the header names no assignment"):
        read('# %% id="a"\nx = 1', header="")


def test_says_everything_that_is_wrong_at_once(read):
    with pytest.raises(LessonError) as raised:
        read("# %%\nx = 1\n\n# %%\ny = 2")
    assert str(raised.value).count("has no id") == 2
