import os

import pytest

from classroom.repair.released import read_released


def test_the_lesson_is_as_learners_know_it(released):
    assert [(slot.name, slot.kind) for slot in released.lesson.slots] == [
        ("setup", "setup"),
        ("double", "solution"),
        ("test_double_shape", "test"),
        ("test_double_value", "test"),
    ]
    assert "HIDDEN" not in released.lesson.slots[3].source


def test_the_cells_are_the_courses_own(released):
    assert "HIDDEN" in released.cells["test_double_value"].source


def test_a_changed_source_is_read_again(course, released):
    path = course.source()
    path.write_text(path.read_text().replace("double(1)", "double(5)"))
    os.utime(path, ns=(0, 0))
    assert "double(5)" in read_released(path).lesson.slots[2].source


def test_there_is_no_such_notebook(course):
    with pytest.raises(FileNotFoundError):
        read_released(course.source().with_name("other.ipynb"))
