"""A small course in which two students have grades, and a grading that takes no time."""

from dataclasses import dataclass, field

import nbformat
import pytest
from nbgrader.api import Gradebook

from classroom.course import autograded_folder
from classroom.register import register
from classroom.regrade import trial
from classroom.regrade.marks import read_marks
from classroom.regrade.trial import trial_course

CONFIG = "from classroom import configure\n\nc = get_config()\nconfigure(c)\n"


@dataclass
class GradedCourse:
    """course: the one of `tests/classroom/conftest.py`. verdicts: what the next grading finds, by
    student and grade id; who is missing cannot be graded."""

    course: object
    verdicts: dict = field(default_factory=dict)

    @property
    def root(self):
        return self.course.root

    @property
    def directory(self):
        return self.course.directory

    @property
    def config(self):
        return self.course.config

    def gradebook(self):
        return Gradebook(self.directory.db_url)

    def marks(self, student):
        with self.gradebook() as gradebook:
            return read_marks(gradebook, "small")[student]

    def by_hand(self, student, grade_id, points, comment):
        """Grade a cell as the formgrader does, and comment the solution."""
        with self.gradebook() as gradebook:
            grade = gradebook.find_grade(grade_id, "small", "small", student)
            grade.manual_score, grade.needs_manual_grade = points, False
            gradebook.find_comment("double", "small", "small", student).manual_comment = comment
            gradebook.db.commit()

    def edit_source(self, change):
        path = self.course.source()
        notebook = nbformat.read(path, as_version=4)
        change(notebook.cells)
        nbformat.write(notebook, path)

    def autograded(self, student):
        return autograded_folder(self.directory, "small", student) / "small.ipynb"


@pytest.fixture(scope="session")
def made_before():
    """The gradebook's file, once it was made: every test begins with the same."""
    return {}


@pytest.fixture
def graded(course, monkeypatch, made_before):
    """Ada has 1 + 2 points and bob 1 + 0; the gradebook is as nbgrader leaves it."""
    file = course.root / "gradebook.db"
    if made_before:
        file.write_bytes(made_before[file.name])
    graded = _graded(course, monkeypatch)
    made_before.setdefault(file.name, file.read_bytes())
    return graded


@pytest.fixture
def graded_in_postgresql(course, monkeypatch, new_database):
    course.config.CourseDirectory.db_url = new_database()
    return _graded(course, monkeypatch)


def _graded(course, monkeypatch):
    (course.root / "nbgrader_config.py").write_text(CONFIG)
    graded = GradedCourse(course)
    register(course.directory, "small", course.config)
    for student, value in {"ada": 2, "bob": 0}.items():
        course.hand_in(student)
        with graded.gradebook() as gradebook:
            gradebook.update_or_create_student(student)
            gradebook.update_or_create_submission("small", student)
        points = {"test_double_shape": 1, "test_double_value": value}
        _grade(graded.directory, student, points)
        graded.verdicts[student] = points

    def grade(command, assignment, options):
        aside = trial_course(graded.directory, assignment)
        excluded = options[-1].partition("=")[2].split(",")
        for student, points in graded.verdicts.items():
            if student not in excluded:
                _grade(aside, student, points)
        return None, {}

    monkeypatch.setattr(trial, "run_nbgrader", grade)
    monkeypatch.setattr(trial, "package_files", lambda folder: {})  # it may be edited meanwhile
    return graded


def _grade(directory, student, points):
    with Gradebook(directory.db_url) as gradebook:
        for grade_id, value in points.items():
            grade = gradebook.find_grade(grade_id, "small", "small", student)
            grade.auto_score = value
            grade.needs_manual_grade = grade.manual_score is not None
        gradebook.db.commit()
    folder = autograded_folder(directory, "small", student)
    folder.mkdir(parents=True)
    notebook = nbformat.v4.new_notebook(metadata={"points": points})
    nbformat.write(notebook, folder / "small.ipynb")


@pytest.fixture
def change_text():
    """An edit of the source: the check of the value has another text."""

    def change(cells):
        cells[3].source = "assert double(4) == 8"

    return change
