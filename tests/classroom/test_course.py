import pytest
from nbgrader.apps import AutogradeApp
from nbgrader.coursedir import CourseDirectory

from classroom.course import (
    graded_cells,
    running_course,
    source_notebooks,
    submission_of,
    uses_attention_lab,
)


def test_a_running_command_tells_its_course(course, tmp_path):
    app = AutogradeApp.instance()
    app.coursedir = CourseDirectory(root=str(tmp_path), db_url="sqlite:///elsewhere.db")
    try:
        assert running_course(course.config).db_url == "sqlite:///elsewhere.db"
    finally:
        AutogradeApp.clear_instance()


def test_without_a_command_the_settings_and_the_working_folder_tell(course, monkeypatch):
    monkeypatch.chdir(course.root)
    course.config.CourseDirectory.db_url = "sqlite:///of-the-settings.db"
    found = running_course(course.config)
    assert found.db_url == "sqlite:///of-the-settings.db"
    assert found.root == str(course.root)


def test_a_submission_is_known_by_its_path(course):
    path = course.hand_in("王小明 (2)")
    assert submission_of(course.directory, path) == ("small", "王小明 (2)")


def test_a_path_elsewhere_is_no_submission(course):
    with pytest.raises(ValueError, match="not in a folder like"):
        submission_of(course.directory, course.source())


def test_graded_cells_come_in_the_order_of_the_notebook(course):
    assert source_notebooks(course.directory, "small") == ["small.ipynb"]
    assert graded_cells(course.directory, "small") == [
        ("small", "test_double_shape"), ("small", "test_double_value")
    ]  # fmt: skip


def test_assignments_are_told_apart_by_what_they_mention(course):
    assert uses_attention_lab(course.directory, "small")
    assert not uses_attention_lab(course.directory, "other")
    assert not uses_attention_lab(course.directory, "missing")
