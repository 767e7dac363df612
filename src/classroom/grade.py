"""`python -m classroom.grade`: grade what was handed in, write the feedback, print one table.

Works in the folder of a course, the one with nbgrader_config.py. Where there are lessons, their
editions are built first; where nothing was handed in, the sample class in examples/class/ is
graded, in a course of its own. The exit status is 1 if anything is left without a grade or
without feedback or was graded on a guess, 2 if nothing could be graded at all.
"""

import argparse
import fnmatch
import logging
import os
import sys
from pathlib import Path

from nbgrader.api import Gradebook
from nbgrader.apps import AutogradeApp, GenerateFeedbackApp, NbGrader
from nbgrader.coursedir import CourseDirectory

from classroom import editions
from classroom.course import (
    autograded_folder,
    graded_cells,
    source_folder,
    uses_attention_lab,
)
from classroom.register import outdated, register
from classroom.repair.flags import flags_in
from classroom.report import listing, read_class, render
from classroom.sample import make_class
from classroom.ungraded import submitted_names, without_grade

SAMPLE = Path("examples", "class")
LOG = ".nbgrader.log"


class GivenUp(logging.Handler):
    """Keeps the error for which nbgrader gave up a submission, by student.

    nbgrader logs it with the submission's folder, `.../<student>/<assignment>`, as the argument
    while it handles the error.
    """

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.errors: dict[str, BaseException] = {}

    def emit(self, record: logging.LogRecord) -> None:
        error = sys.exception()
        if error is not None and record.args:
            self.errors[Path(record.args[0]).parent.name] = error


def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns its exit status."""
    options = _parser().parse_args(arguments)
    # The tensors are small: a second thread only waits for the first.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    try:
        root, nbgrader_options = _prepare(Path.cwd())
        assignments = options.assignments or _assignments(root)
    except (editions.LessonError, FileNotFoundError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    (root / LOG).unlink(missing_ok=True)
    nbgrader_options += ["--force"] * options.force + [f"--student={options.student}"]
    complete = [_grade(root, assignment, nbgrader_options) for assignment in assignments]
    return 0 if all(complete) else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m classroom.grade",
        description="Grade what lies in submitted/, or else the sample class.",
    )
    parser.add_argument(
        "assignments", nargs="*", help="such as mha (default: all built on attention_lab)"
    )
    parser.add_argument("--force", action="store_true", help="grade again what has a grade")
    parser.add_argument("--student", default="*", help="only this student, or a pattern")
    return parser


def _prepare(repository: Path) -> tuple[Path, list[str]]:
    """The root of the course to be graded and the options that tell nbgrader of it."""
    if (repository / "lessons").is_dir():
        editions.write(repository, editions.build(repository))
    if any((repository / "submitted").glob("[!.]*")):
        return repository, [f"--course-dir={repository}"]
    if not (repository / SAMPLE).is_dir():
        raise FileNotFoundError(
            "nothing was handed in: put submissions into "
            "submitted/<student>/<assignment>/<notebook>.ipynb"
        )
    course = repository / SAMPLE / "course"
    make_class(repository / SAMPLE, repository, course)
    return course, [f"--course-dir={course}", f"--db=sqlite:///{course / 'gradebook.db'}"]


def _assignments(root: Path) -> list[str]:
    course = CourseDirectory(root=str(root))
    folders = sorted(source_folder(course, "").glob("*/"))
    found = [folder.name for folder in folders if uses_attention_lab(course, folder.name)]
    if not found:
        raise FileNotFoundError(f"no assignment in {root / 'source'} uses attention_lab")
    return found


def _grade(root: Path, assignment: str, options: list[str]) -> bool:
    """Grade one assignment and print its report; whether everything got a grade that needed no
    guess, and feedback."""
    app, errors = run_nbgrader(AutogradeApp, assignment, options)
    course = app.coursedir
    students = fnmatch.filter(submitted_names(course, assignment), course.student_id)
    if not students:
        print(f"{assignment}: nothing was handed in by a student called {course.student_id}")
        return False
    ungraded = without_grade(course, assignment, students, errors)
    _, without_feedback = run_nbgrader(GenerateFeedbackApp, assignment, options)
    graded = [student for student in students if student not in ungraded]
    noted = {
        student: flags_in(autograded_folder(course, assignment, student)) for student in graded
    }
    flags = {student: found for student, (found, _) in noted.items()}
    # nbgrader registers what it grades; here it may have found nothing to grade.
    register(course, assignment, app.config)
    with Gradebook(course.db_url, course.course_id) as gradebook:
        cells = graded_cells(course, assignment)
        report = read_class(gradebook, assignment, cells, students, ungraded, flags)
    if warning := outdated(course, assignment):
        print(f"{warning}\n")
    print(render(report))
    if without_feedback:
        entries = [(student, str(error)) for student, error in without_feedback.items()]
        print("", listing("No feedback", entries), sep="\n")
    if errors or without_feedback:
        print(f"\nnbgrader's own words are in {root / LOG}")
    guessed = any(guess for _, guess in noted.values())
    return report.complete and not guessed and not without_feedback


def run_nbgrader(
    command: type[NbGrader], assignment: str, options: list[str]
) -> tuple[NbGrader, dict[str, BaseException]]:
    """Run an nbgrader command; the application, and the errors it met by student.

    nbgrader exits with an error if a single submission fails; that is no reason to stop here.
    """
    app = command.instance()
    given_up = GivenUp()
    try:
        app.initialize([assignment, *options])
        file = logging.FileHandler(Path(app.coursedir.root, LOG), encoding="utf-8")
        app.log.handlers = [file, given_up]
        app.start()
    except SystemExit:
        pass
    finally:
        app.close_handlers()
        command.clear_instance()
    return app, given_up.errors


if __name__ == "__main__":
    sys.exit(main())
