"""``python -m classroom.editions``: write the editions, or check that they are up to date."""

import argparse
import sys
from pathlib import Path

from classroom.editions import (
    LessonError,
    build,
    differences,
    place_package,
    write,
    write_executed,
)


def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns its exit status."""
    options = _parser().parse_args(arguments)
    try:
        return _run(options)
    except LessonError as error:
        print(error, file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m classroom.editions",
        description="Build the notebooks of every lesson into source/, release/ and notebooks/.",
    )
    parser.add_argument("--root", type=Path, default=Path(), help="the course (default: here)")
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument(
        "--check",
        action="store_true",
        help="write nothing; fail if a notebook differs from what the lessons give",
    )
    instead.add_argument(
        "--package",
        action="store_true",
        help="only put the package beside the notebooks, as after a fresh clone",
    )
    instead.add_argument(
        "--executed",
        action="store_true",
        help="run every lesson, solved, and write what it shows into docs/, as a page",
    )
    return parser


def _run(options: argparse.Namespace) -> int:
    if options.package:
        place_package(options.root)
        return 0
    editions = build(options.root)
    if options.executed:
        print(*write_executed(options.root, editions), sep="\n")
        return 0
    if options.check:
        findings = differences(options.root, editions)
        if findings:
            print(*findings, "Run `make build` and commit the result.", sep="\n", file=sys.stderr)
        return bool(findings)
    write(options.root, editions)
    place_package(options.root)
    print(*editions, sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
