"""`python -m classroom.regrade mha`: grade a class again; `--apply` takes over what it showed.

For a corrected test, or a new version of the lesson, in `source/`. Works in the folder of a course,
the one with nbgrader_config.py. The exit status is 2 if nothing was graded again or applied.
"""

import argparse
import os
import sys
from pathlib import Path

from nbgrader.apps import AutogradeApp
from nbgrader.converters.base import NbGraderException
from nbgrader.coursedir import CourseDirectory
from sqlalchemy.exc import SQLAlchemyError
from traitlets.config import Config

from classroom import gradebook
from classroom.course import require_usual
from classroom.regrade.apply import apply
from classroom.regrade.changes import find_changes
from classroom.regrade.table import render
from classroom.regrade.trial import last_trial, run_trial


def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns its exit status."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.apply and options.renamed:
        parser.error("--renamed belongs to the run that shows the table; --apply takes it over")
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    try:
        course, config = _open_course()
        _regrade(options, course, config)
    except (FileNotFoundError, ValueError, NbGraderException) as error:
        return _say(error)
    except SQLAlchemyError as error:
        return _say(gradebook.in_words(error))
    except KeyboardInterrupt:
        print("\nStopped; run the same command again.", file=sys.stderr)
        return 130
    return 0


def _regrade(options: argparse.Namespace, course: CourseDirectory, config: Config) -> None:
    assignment = options.assignment
    if options.apply:
        trial = last_trial(course, assignment)
    else:
        trial = run_trial(course, assignment, config, dict(options.renamed))
    changes = find_changes(course, assignment, trial)
    print(render(assignment, trial, changes))
    if options.apply:
        kept = apply(course, assignment, trial, changes)
        print(
            f"\nApplied. What was there before lies in {kept}; for new feedback, run "
            f"nbgrader generate_feedback {assignment} --force"
        )
    else:
        print(f"\nNothing is changed yet: python -m classroom.regrade {assignment} --apply does it")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m classroom.regrade",
        description="Grade everybody again by what source/ says, show whose points change in which "
        "cells and why, and change nothing.",
    )
    parser.add_argument("assignment", help="such as mha")
    parser.add_argument("--apply", action="store_true", help="take over what was shown last")
    parser.add_argument(
        "--renamed",
        metavar="OLD=NEW",
        type=_pair,
        action="append",
        default=[],
        help="a grade id that was renamed; one whose cell kept its text is found without this",
    )
    return parser


def _pair(text: str) -> tuple[str, str]:
    before, found, after = text.partition("=")
    if not (before and found and after):
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form OLD=NEW")
    return before, after


def _open_course() -> tuple[CourseDirectory, Config]:
    """The course in this folder and its settings, as nbgrader's autograde reads them."""
    app = AutogradeApp.instance()
    try:
        app.initialize([f"--course-dir={Path.cwd()}", "--log-level=ERROR"])
        require_usual(app.coursedir)
        return app.coursedir, app.config
    finally:
        AutogradeApp.clear_instance()


def _say(error: object) -> int:
    print(error, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
