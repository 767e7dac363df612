import logging

import nbformat
import pytest
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.converters import Autograde

from classroom import register as module
from classroom.register import (
    is_registered,
    outdated,
    prepare,
    register,
    withdraw_grades,
)


@pytest.fixture
def registered(course):
    register(course.directory, "small", course.config)
    return course


def gradebook(course):
    return Gradebook(course.directory.db_url)


def test_cells_and_points_come_from_the_source(registered):
    with gradebook(registered) as book:
        notebook = book.find_notebook("small", "small")
        points = {cell.name: cell.max_score for cell in notebook.grade_cells}
        assert points == {"test_double_shape": 1, "test_double_value": 2}
        assert [cell.name for cell in notebook.solution_cells] == ["double"]


def test_the_release_is_not_touched(registered):
    assert not (registered.root / "release").exists()


def test_what_is_registered_stays_as_it_is(registered):
    with gradebook(registered) as book:
        book.update_or_create_assignment("small", duedate="2030-01-01 12:00")
    registered.source().unlink()
    register(registered.directory, "small", registered.config)
    with gradebook(registered) as book:
        assert book.find_assignment("small").duedate.year == 2030


def change(course, edit):
    notebook = nbformat.read(course.source(), as_version=4)
    edit(notebook.cells)
    nbformat.write(notebook, course.source())


def other_points(cells):
    cells[3].metadata.nbgrader.points = 3


def other_text(cells):
    cells[3].source = "assert double(4) == 8"


def other_name(cells):
    cells[3].metadata.nbgrader.grade_id = "test_twice"


@pytest.mark.parametrize(
    ("edit", "named"),
    [
        (other_points, "test_double_value"),
        (other_text, "test_double_value"),
        (other_name, "test_double_value, test_twice"),
    ],
)
def test_a_source_that_has_changed_is_said(registered, edit, named):
    change(registered, edit)
    assert f"took it over, in {named}." in outdated(registered.directory, "small")


def other_answer(cells):
    cells[1].source = "def double(x):\n    return x + x"


def test_a_source_whose_checks_are_the_same_is_none(registered):
    assert outdated(registered.directory, "small") is None
    change(registered, other_answer)
    assert outdated(registered.directory, "small") is None


@pytest.fixture
def converter(course):
    directory = course.directory
    directory.assignment_id = "small"
    return Autograde(coursedir=directory, config=course.config)


def test_a_command_warns_of_a_changed_source_once(registered, converter, caplog):
    change(registered, other_text)
    with caplog.at_level(logging.WARNING, "traitlets"):
        for student in ("ada", "bob"):
            prepare(converter, "small", student)
    assert caplog.text.count("python -m classroom.regrade small") == 1


def test_a_command_asks_once_whether_an_assignment_is_registered(course, converter, monkeypatch):
    asked, commands = [], [converter, Autograde(coursedir=course.directory, config=course.config)]
    monkeypatch.setattr(module, "register", lambda course, *_: asked.append(course))
    register(course.directory, "small", course.config)
    for command in commands:
        for student in ("ada", "bob"):
            prepare(command, "small", student)
    assert asked == [command.coursedir for command in commands]


def test_an_assignment_without_notebooks_counts_as_missing(course):
    with gradebook(course) as book:
        book.add_assignment("small")
        assert not is_registered(book, "small")
    register(course.directory, "small", course.config)
    with gradebook(course) as book:
        assert is_registered(book, "small")


@pytest.mark.filterwarnings("ignore:Object of type <Submitted:sqlalchemy.exc.SAWarning")
def test_withdrawn_grades_are_left_to_a_human(registered):
    with gradebook(registered) as book:
        book.add_student("ada")
        [notebook] = book.add_submission("small", "ada").notebooks
        for grade in notebook.grades:
            grade.auto_score, grade.needs_manual_grade = 1, False
        notebook.grades[0].manual_score = 0.5
        book.db.commit()
    withdraw_grades(registered.directory, "small", "ada")
    with gradebook(registered) as book:
        submission = book.find_submission("small", "ada")
        assert submission.score == 0.5, "what a human gave is kept"
        assert all(g.needs_manual_grade for n in submission.notebooks for g in n.grades)


@pytest.mark.filterwarnings("ignore:Object of type <Submitted:sqlalchemy.exc.SAWarning")
def test_another_notebook_keeps_its_grades(registered):
    with gradebook(registered) as book:
        book.add_student("ada")
        [notebook] = book.add_submission("small", "ada").notebooks
        for grade in notebook.grades:
            grade.auto_score, grade.needs_manual_grade = 1, False
        book.db.commit()
    withdraw_grades(registered.directory, "small", "ada", "another")
    with gradebook(registered) as book:
        assert book.find_submission("small", "ada").score == 2
    withdraw_grades(registered.directory, "small", "ada", "small")
    with gradebook(registered) as book:
        assert book.find_submission("small", "ada").needs_manual_grade


def test_nothing_to_withdraw_before_the_first_submission(registered):
    withdraw_grades(registered.directory, "small", "nobody")
    with gradebook(registered) as book, pytest.raises(MissingEntry):
        book.find_submission("small", "nobody")


def test_an_assignment_is_registered_before_its_first_submission(course, converter):
    prepare(converter, "small", "ada")
    with gradebook(course) as book:
        assert is_registered(book, "small")
