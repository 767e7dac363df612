"""`python -m classroom.grade`: grade what was handed in, write the feedback, print one table.

Works in the folder of a course, the one with nbgrader_config.py. Where there are lessons, their
editions are built first; where nothing was handed in, the sample class in examples/class/ is
graded, in a course of its own. The exit status is 1 if anything is left without a grade or
without feedback or was graded on a guess, 2 if grading had to stop for a reason that lies in no
submission; standard error says which, and what to do; 130 after Ctrl-C. With --watch it goes on;
see `classroom.watch`.
"""

import argparse
import fnmatch
import logging
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from nbgrader.api import Gradebook
from nbgrader.apps import AutogradeApp, CollectApp, GenerateFeedbackApp, NbGrader
from nbgrader.converters import Autograde
from nbgrader.converters.base import NbGraderException
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange.default import Exchange
from sqlalchemy.exc import SQLAlchemyError
from traitlets import TraitError
from traitlets.config import Config

from classroom import editions, gradebook
from classroom.course import (
    graded_cells,
    source_folder,
    uses_attention_lab,
)
from classroom.graded import flags_of
from classroom.grading.exporter import GradingExporter
from classroom.register import outdated, register
from classroom.report import ClassReport, listing, read_class, render
from classroom.sample import make_class
from classroom.ungraded import in_words, submitted_names, without_grade
from classroom.watch import watch

SAMPLE = Path("examples", "class")
LOG = ".nbgrader.log"
LEFT = """\
All others are done. What is listed above is left for you: no grade, no feedback, or graded on a
guess. That is exit status 1, which make calls an error."""
NOT_CONFIGURED = """\
No sandbox is set up, so nothing was run and no grade was recorded. nbgrader_config.py needs:
  from classroom import configure
  configure(c)"""


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
    try:
        return _run(options)
    except KeyboardInterrupt:
        print("\nStopped. What has a grade keeps it; the same command goes on.", file=sys.stderr)
        return 130


def _run(options: argparse.Namespace) -> int:
    # The tensors are small: a second thread only waits for the first.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    try:
        root, nbgrader_options = _prepare(Path.cwd(), options.watch)
        assignments = options.assignments or _assignments(root)
    except (editions.LessonError, NbGraderException, TraitError, OSError, ValueError) as error:
        return _say(error)
    nbgrader_options += ["--force"] * options.force + [f"--student={options.student}"]
    try:
        (root / LOG).unlink(missing_ok=True)
        if options.watch:
            _watch(root, assignments, nbgrader_options)
        complete = [_grade(root, assignment, nbgrader_options) for assignment in assignments]
    except (NbGraderException, TraitError, OSError, ValueError) as error:
        return _say(error)
    except SQLAlchemyError as error:
        return _say(gradebook.in_words(error))
    if all(complete):
        return 0
    print(f"\n{LEFT}")
    return 1


def _say(error: object) -> int:
    print(error, file=sys.stderr)
    return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m classroom.grade",
        description="Grade what lies in submitted/, or else the sample class.",
    )
    parser.add_argument(
        "assignments", nargs="*", help="such as mha (default: all built on attention_lab)"
    )
    parser.add_argument("--force", action="store_true", help="grade again what has a grade")
    parser.add_argument(
        "--watch", action="store_true", help="go on and grade what arrives, until Ctrl-C"
    )
    parser.add_argument("--student", default="*", help="only this student, or a pattern")
    return parser


def _watch(root: Path, assignments: Sequence[str], options: list[str]) -> None:
    course, config = _settings([assignments[0], *options])
    exchange = Exchange(coursedir=course, config=config)
    inbound = Path(exchange.root, course.course_id, "inbound")

    def collect(assignment: str) -> None:
        if course.course_id and inbound.is_dir():
            run_nbgrader(CollectApp, assignment, [options[0], "--update"])

    def grade(assignment: str, unsettled: Sequence[str]) -> ClassReport:
        excluded = ",".join(filter(None, [course.student_id_exclude, *unsettled]))
        exclude = f"--CourseDirectory.student_id_exclude={excluded}"
        return _graded(root, assignment, [*options, exclude])[0]

    watch(course, assignments, config, collect, grade)


def _prepare(repository: Path, waits: bool) -> tuple[Path, list[str]]:
    """The root of the course to be graded and the options that tell nbgrader of it."""
    if (repository / "lessons").is_dir():
        editions.write(repository, editions.build(repository))
    here = [f"--course-dir={repository}"]
    course, _ = _settings(here)
    submitted = Path(course.root, course.submitted_directory)
    if waits or any(submitted.glob("[!.]*")):
        return repository, here
    if not (repository / SAMPLE).is_dir():
        raise FileNotFoundError(
            "nothing was handed in: put submissions into "
            f"{course.submitted_directory}/<student>/<assignment>/<notebook>.ipynb"
        )
    sample = repository / SAMPLE / "course"
    make_class(repository / SAMPLE, repository, sample)
    return sample, [f"--course-dir={sample}", f"--db=sqlite:///{sample / 'gradebook.db'}"]


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
    report, course, without_feedback, errors, guessed = _graded(root, assignment, options)
    if report is None:
        print(f"{assignment}: nothing was handed in by a student called {course.student_id}")
        return False
    if warning := outdated(course, assignment):
        print(f"{warning}\n")
    print(render(report))
    if without_feedback:
        entries = [(student, str(error)) for student, error in without_feedback.items()]
        print("", listing("No feedback", entries), sep="\n")
    if len(without_feedback) < len(report.rows):
        print(f"\nFeedback for each student is in {_feedback_folder(course)}")
    if errors or without_feedback:
        print(f"\nnbgrader's own words are in {root / LOG}")
    return report.complete and not guessed and not without_feedback


def _graded(root: Path, assignment: str, options: list[str]):
    """Grade one assignment and write its feedback: the report (None if nobody handed in), the
    course, the errors of feedback and of grading by student, whether anything was guessed."""
    app, errors = run_nbgrader(AutogradeApp, assignment, options)
    course = app.coursedir
    students = fnmatch.filter(submitted_names(course, assignment), course.student_id)
    if not students:
        return None, course, {}, errors, False
    ungraded = without_grade(course, assignment, students, errors)
    graded = [student for student in students if student not in ungraded]
    if reason := _met_by_all(students, ungraded, errors):
        raise NbGraderException(
            f"No submission could be graded. {reason}\nnbgrader's own words are in {root / LOG}"
        )
    _, without_feedback = run_nbgrader(GenerateFeedbackApp, assignment, options)
    noted = {student: flags_of(course, assignment, student) for student in graded}
    flags = {student: found for student, (found, _) in noted.items()}
    # nbgrader registers what it grades; here it may have found nothing to grade.
    register(course, assignment, app.config)
    with Gradebook(course.db_url, course.course_id) as book:
        cells = graded_cells(course, assignment)
        report = read_class(book, assignment, cells, students, ungraded, flags)
    guessed = any(guess for _, guess in noted.values())
    return report, course, without_feedback, errors, guessed


def _feedback_folder(course: CourseDirectory) -> str:
    """As it is called from where the command was given."""
    return os.path.relpath(Path(course.root, course.feedback_directory)) + os.sep


def _met_by_all(
    students: Sequence[str], ungraded: Mapping[str, str], errors: Mapping[str, BaseException]
) -> str | None:
    """Why nobody has a grade, if the reason is one that lies in no submission."""
    for name, error in errors.items():
        if name not in students:  # where nbgrader reads the assignment
            return f"In {name}/: {in_words(error)}"
    # What an OSError says besides is the name of a file.
    alike = {getattr(error, "strerror", None) or str(error) for error in errors.values()}
    if len(alike) == 1 and ungraded == {name: in_words(errors.get(name)) for name in students}:
        return ungraded[students[0]]
    return None


def run_nbgrader(
    command: type[NbGrader], assignment: str, options: list[str]
) -> tuple[NbGrader, dict[str, BaseException]]:
    """Run an nbgrader command; the application, and the errors it met by student.

    nbgrader exits with an error if a single submission fails; that is no reason to stop here.

    Raises:
        NbGraderException, TraitError, SQLAlchemyError: it stopped for a reason that lies in no
            submission, such as a machine without sandboxes or a gradebook that is locked.
    """
    app = command.instance(raise_config_file_errors=True)
    given_up = GivenUp()
    try:
        _read_settings(app, [assignment, *options])
        file = logging.FileHandler(Path(app.coursedir.root, LOG), encoding="utf-8")
        file.handleError = lambda record: None  # on a full disk: a traceback for every line
        app.log.handlers = [file, given_up]
        app.start()
    except SystemExit as stop:
        if reason := _reason(stop):
            raise reason from None
    finally:
        app.close_handlers()
        command.clear_instance()
    return app, given_up.errors


def _settings(arguments: list[str]) -> tuple[CourseDirectory, Config]:
    """The course and the settings that nbgrader's commands will have."""
    app = AutogradeApp.instance(raise_config_file_errors=True)
    try:
        _read_settings(app, arguments)
        return app.coursedir, app.config
    except SystemExit as stop:
        raise _reason(stop) or stop from None
    finally:
        AutogradeApp.clear_instance()


def _read_settings(app: NbGrader, arguments: list[str]) -> None:
    """nbgrader would go on without settings that it cannot read, and without a sandbox."""
    try:
        app.initialize(arguments)
    except Exception as error:
        message = f"nbgrader_config.py cannot be read: {type(error).__name__}: {error}"
        raise NbGraderException(message) from error
    if not issubclass(Autograde(parent=app).exporter_class, GradingExporter):
        raise NbGraderException(NOT_CONFIGURED)


def _reason(stop: SystemExit) -> BaseException | None:
    """The error for which nbgrader stopped, unless it only sums up what it could not grade."""
    error = stop.__context__
    if not isinstance(error, NbGraderException):
        return error or NbGraderException(f"nbgrader stopped; its own words are in {LOG}")
    if isinstance(error.__context__, SQLAlchemyError):
        return error.__context__
    return error if error.__context__ else None


if __name__ == "__main__":
    sys.exit(main())
