"""A gradebook with a small class in it, and nbgrader's command that exports it."""

import csv

import pytest
from nbgrader.api import Gradebook
from nbgrader.apps import ExportApp
from said import Said

from classroom.register import register


@pytest.fixture
def book(course):
    register(course.directory, "small", course.config)
    with Gradebook(course.directory.db_url) as book:
        yield book


@pytest.fixture
def grade(book):
    """Gives a student points for the shape and the value; None leaves a cell without a grade."""

    def grade(student, shape, value, *, penalty=None, assignment="small", **names):
        book.update_or_create_student(student, **names)
        [notebook] = book.update_or_create_submission(assignment, student).notebooks
        notebook.late_submission_penalty = penalty
        for cell in notebook.grades:
            cell.auto_score = shape if cell.name.endswith("shape") else value
            cell.needs_manual_grade = cell.auto_score is None
        book.db.commit()
        return notebook

    return grade


@pytest.fixture
def roster(course):
    return (course.root / "roster.csv").write_text


@pytest.fixture
def export(course):
    """Runs `nbgrader export`: the rows of the file, and what was said."""

    def export(exporter, *options, file):
        app = ExportApp.instance()
        said = Said()
        try:
            app.initialize([f"--exporter=classroom.export.{exporter}", *options])
            app.log.addHandler(said)
            app.start()
        finally:
            app.log.removeHandler(said)
            ExportApp.clear_instance()
        with (course.root / file).open(newline="", encoding="utf-8-sig") as opened:
            return list(csv.reader(opened)), "\n".join(said.lines)

    return export
