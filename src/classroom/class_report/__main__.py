"""Writes the page of a class; see `classroom.class_report`.

Works in the folder of a course, the one with nbgrader_config.py. Options that are not listed are
nbgrader's own, such as --course-dir and --db.
"""

import argparse
import sys
from pathlib import Path

from nbgrader.api import MissingEntry
from nbgrader.apps import NbGrader

from classroom.class_report.page import render
from classroom.class_report.reading import read_class
from classroom.course import UnusualCourse, require_usual


def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns its exit status."""
    options, nbgraders = _parser().parse_known_args(arguments)
    app = NbGrader()
    app.initialize(["--log-level=ERROR", *nbgraders])
    try:
        require_usual(app.coursedir)
        graded = read_class(app.coursedir, options.assignment)
    except UnusualCourse as error:
        print(error, file=sys.stderr)
        return 2
    except (MissingEntry, FileNotFoundError):
        print(
            f"{options.assignment} has no grades in {app.coursedir.root}: "
            f"run nbgrader autograde {options.assignment} first",
            file=sys.stderr,
        )
        return 2
    page = options.output or Path(f"class-report-{options.assignment}.html")
    page.write_text(render(graded, names=options.names), encoding="utf-8", errors="replace")
    print(f"{len(graded.submissions)} submissions: {page}")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m classroom.class_report",
        description="Write one HTML page about how a class did. It names nobody unless asked to.",
        allow_abbrev=False,
    )
    parser.add_argument("assignment", help="such as mha")
    parser.add_argument("--names", action="store_true", help="name the students")
    parser.add_argument("--output", type=Path, help="default: class-report-ASSIGNMENT.html")
    return parser


if __name__ == "__main__":
    sys.exit(main())
