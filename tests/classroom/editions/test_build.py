import json
import re

import pytest

from attention_lab.handin.lesson import Lesson
from classroom.editions.build import build, differences, place_package, write
from classroom.editions.lesson import LessonError
from classroom.editions.package import package_files
from classroom.skeleton import lesson_of

EDITIONS = [
    "source/ps1/tiny.ipynb",
    "release/ps1/tiny.ipynb",
    "notebooks/tiny.ipynb",
    "src/attention_lab/handin/lessons/tiny.json",
]


@pytest.fixture
def editions(course):
    editions = build(course)
    write(course, editions)
    return editions


def edit(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def test_one_text_becomes_three_notebooks_and_a_skeleton(editions):
    assert list(editions) == EDITIONS


def test_the_skeleton_is_that_of_the_release_and_part_of_the_package(course, editions):
    lesson = Lesson.from_json(editions[EDITIONS[3]])
    assert lesson == lesson_of(json.loads(editions[EDITIONS[1]]), "tiny")
    assert "═══ handin/lessons/tiny.json" in editions[EDITIONS[2]]
    place_package(course)
    copied = course / "release" / "ps1" / "attention_lab" / "handin" / "lessons" / "tiny.json"
    assert copied.read_text() == editions[EDITIONS[3]]


def test_a_second_lesson_is_one_more_text(course):
    text = (course / "lessons" / "tiny.py").read_text()
    (course / "lessons" / "more.py").write_text(text.replace("ps1", "ps2"))
    assert [name for name in build(course) if "more" in name] == [
        "source/ps2/more.ipynb",
        "release/ps2/more.ipynb",
        "notebooks/more.ipynb",
        "src/attention_lab/handin/lessons/more.json",
    ]


def test_building_writes_nothing(course):
    before = sorted(course.rglob("*"))
    build(course)
    assert sorted(course.rglob("*")) == before


def test_two_builds_give_the_same_bytes(course, editions):
    assert build(course) == editions


def test_what_was_written_has_no_differences(course, editions):
    assert differences(course, editions) == []


def test_what_is_right_already_is_not_written_again(course, editions):
    path = course / "release/ps1/tiny.ipynb"
    before = path.stat().st_mtime_ns
    write(course, editions)
    assert path.stat().st_mtime_ns == before


def test_a_cell_that_differs_is_named(course, editions):
    edit(course / "lessons/tiny.py", "Twice the number", "Two times the number")
    assert differences(course, build(course)) == [
        "source/ps1/tiny.ipynb: cell 'double' differs",
        "release/ps1/tiny.ipynb: cell 'double' differs",
        "notebooks/tiny.ipynb: cell 'set-up-files-2' differs",
        "notebooks/tiny.ipynb: cell 'set-up-end' differs",
        "notebooks/tiny.ipynb: cell 'setup' differs",
        "notebooks/tiny.ipynb: cell 'double' differs",
        "notebooks/tiny.ipynb: cell 'solution-double' differs",
        "src/attention_lab/handin/lessons/tiny.json: differs",
    ]


def test_cells_that_came_or_went_are_named(course, editions):
    edit(course / "lessons/tiny.py", 'id="title"', 'id="head"')
    assert differences(course, build(course))[:2] == [
        "source/ps1/tiny.ipynb: cell 'head' is missing",
        "source/ps1/tiny.ipynb: cell 'title' is not in the lesson",
    ]


@pytest.mark.parametrize(
    ("old", "new", "finding"),
    [
        ('"python3"', '"python2"', "differs in its metadata"),
        ("{", "", "is no notebook"),
        ("{", "[", "is no notebook"),
    ],
)
def test_what_differs_in_no_cell_is_told(course, editions, old, new, finding):
    edit(course / "notebooks/tiny.ipynb", old, new)
    (difference,) = differences(course, editions)
    assert difference.startswith(f"notebooks/tiny.ipynb: {finding}")


def test_a_notebook_that_is_missing_or_too_many_is_told(course, editions):
    (course / "notebooks/tiny.ipynb").rename(course / "notebooks/old.ipynb")
    assert differences(course, editions) == [
        "notebooks/tiny.ipynb: is missing",
        "notebooks/old.ipynb: is built from no lesson",
    ]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('grade_id="test_halve"', 'grade_id="halve_test"', "tiny (lesson): cell 'halve_test'"),
        ('id="setup"', 'id="title"', "tiny (lesson): cell 'title': 2 cells have this id"),
        ("A bar beside one twice as long", "", "cell 'title': a picture has no alt text"),
        ("double(1)", "assert double(-3) == -6", "tiny (release): cell 'look-at-double': shows"),
    ],
)
def test_a_fault_stops_the_build(course, old, new, message):
    edit(course / "lessons/tiny.py", old, new)
    with pytest.raises(LessonError, match=re.escape(message)):
        build(course)


def test_the_badge_stands_in_one_setting(course):
    edit(course / "pyproject.toml", '""', '"someone/course/main"')
    assert "github/someone/course/blob/main/notebooks/tiny.ipynb" in build(course)[EDITIONS[2]]


PAGE = """<!-- colab: `make build` writes this, from pyproject.toml's [tool.classroom] -->
old
<!-- end of colab -->
"""


@pytest.mark.parametrize("github", ["", "someone/course/main"])
def test_pages_with_a_place_for_links_are_kept_right(course, github):
    edit(course / "pyproject.toml", '""', f'"{github}"')
    (course / "docs").mkdir()
    for name in ("README.md", "docs/self.md"):
        (course / name).write_text(PAGE)
    (course / "docs" / "other.md").write_text("old\n")
    editions = build(course)
    assert [name for name in editions if name not in EDITIONS] == ["README.md", "docs/self.md"]
    assert "README.md: differs" in differences(course, editions)
    write(course, editions)
    assert differences(course, build(course)) == []
    written = "".join((course / name).read_text() for name in editions)
    assert written.count("https://colab.research.google.com/github/") == (3 if github else 0)


def test_a_folder_without_lessons_is_told(course):
    (course / "lessons" / "tiny.py").unlink()
    with pytest.raises(LessonError, match=r"no lessons/\*\.py"):
        build(course)


def test_the_package_is_put_beside_source_and_release(course, package):
    place_package(course)
    for edition in ("source", "release"):
        assert package_files(course / edition / "ps1" / "attention_lab") == package
