"""A grading of everybody that changes nothing: in a gradebook and a folder of its own."""

import glob
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from nbgrader.api import Base, Gradebook, MissingEntry
from nbgrader.apps import AutogradeApp
from nbgrader.coursedir import CourseDirectory
from nbgrader.utils import rmtree
from sqlalchemy import make_url, select
from traitlets.config import Config

import attention_lab
from attention_lab.edition import fingerprint_of, package_files
from classroom import gradebook as gradebooks
from classroom.course import source_folder, with_settings
from classroom.files import digest_of
from classroom.grade import LOG, run_nbgrader
from classroom.regrade.definition import (
    Definition,
    definition_in_source,
    follow,
    read_definition,
    renamed_cells,
)
from classroom.regrade.marks import read_marks
from classroom.ungraded import submitted_names, without_grade

FOLDER = "regrade"


class NothingToRegrade(ValueError):
    """There is nothing to grade again, or nothing to apply; the message says why."""


@dataclass(frozen=True)
class Trial:
    """A trial that ran to its end.

    renamed: grade ids, the new one by the old, by notebook. students: who was graded again. left:
    who could not be, and keeps the grade there is, with the reason. inputs: stands for the files
    that were graded and the code that graded them.
    """

    time: str
    renamed: Mapping[str, Mapping[str, str]]
    students: list[str]
    left: Mapping[str, str]
    inputs: str


def folder_of(course: CourseDirectory, assignment: str) -> Path:
    return Path(course.root, FOLDER, assignment)


def trial_course(course: CourseDirectory, assignment: str) -> CourseDirectory:
    """The course, but with the trial's gradebook and autograded folder."""
    folder = folder_of(course, assignment) / "trial"
    return with_settings(
        course,
        db_url=f"sqlite:///{folder / 'gradebook.db'}",
        autograded_directory=str(Path(FOLDER, assignment, "trial", "autograded")),
    )


def require_gradebook(course: CourseDirectory) -> None:
    """Raises NothingToRegrade if there is no gradebook yet; opening one would make it."""
    url = make_url(course.db_url)
    if url.get_backend_name() == "sqlite" and not (url.database and Path(url.database).exists()):
        raise NothingToRegrade(f"there is no gradebook {url.database}: nothing was graded yet")


def run_trial(
    course: CourseDirectory, assignment: str, config: Config, asked: Mapping[str, str]
) -> Trial:
    """Grade again, by what `source/` says, everybody who has a grade.

    asked: grade ids that are to be taken for renamed, the new one by the old.

    Raises:
        NothingToRegrade: nobody has a grade, or nobody's work could be graded.
        FileNotFoundError, ValueError: see `classroom.regrade.definition`.
    """
    require_gradebook(course)
    new = definition_in_source(course, assignment, config)
    folder = folder_of(course, assignment) / "trial"
    if folder.exists():
        rmtree(str(folder))
    folder.mkdir(parents=True)
    inputs = fingerprint(course, assignment)
    graded, renamed = _prepare(course, assignment, new, asked)
    submitted = set(submitted_names(course, assignment))
    aside = trial_course(course, assignment)
    _, errors = run_nbgrader(AutogradeApp, assignment, _options(aside, submitted - graded))
    here = sorted(graded & submitted)
    left = dict.fromkeys(sorted(graded - submitted), "not in submitted/ any more")
    left |= without_grade(aside, assignment, here, errors)
    if len(left) == len(graded):
        raise NothingToRegrade(
            f"{assignment}: no submission could be graded again; "
            f"nbgrader's own words are in {Path(course.root, LOG)}"
        )
    students = [student for student in here if student not in left]
    now = datetime.now().isoformat(" ", "seconds")
    trial = Trial(now, renamed, students, left, inputs)
    (folder / "trial.json").write_text(json.dumps(asdict(trial)), encoding="utf-8")
    return trial


def last_trial(course: CourseDirectory, assignment: str) -> Trial:
    """The trial that was shown last.

    Raises:
        NothingToRegrade: there is none, or something has changed since.
    """
    require_gradebook(course)
    command = f"run python -m classroom.regrade {assignment} first"
    try:
        text = (folder_of(course, assignment) / "trial" / "trial.json").read_text(encoding="utf-8")
    except FileNotFoundError:
        raise NothingToRegrade(f"there is nothing to apply: {command}") from None
    trial = Trial(**json.loads(text))
    if trial.inputs != fingerprint(course, assignment):
        raise NothingToRegrade(
            f"source/, what was handed in or attention_lab has changed since {trial.time}: "
            f"{command} and look at the table again"
        )
    return trial


def fingerprint(course: CourseDirectory, assignment: str) -> str:
    """Stands for all that a verdict depends on: submissions, `source/`, the course's code."""
    code = fingerprint_of(package_files(Path(attention_lab.__file__).parent))
    submitted = glob.glob(course.format_path(course.submitted_directory, "*", assignment))
    folders = [source_folder(course, assignment), *map(Path, sorted(submitted))]
    return digest_of(folders, ("__pycache__",), code)


def _prepare(
    course: CourseDirectory, assignment: str, new: Definition, asked: Mapping[str, str]
) -> tuple[set[str], dict[str, dict[str, str]]]:
    """Copy the gradebook and have the copy follow `new`; who has a grade, and what is renamed."""
    aside = trial_course(course, assignment)
    with Gradebook(course.db_url, course.course_id) as gradebook:
        try:
            old = read_definition(gradebook, assignment)
        except MissingEntry:
            old = {}
        graded = {
            student
            for student, marks in read_marks(gradebook, assignment).items()
            if any(mark.score is not None for mark in marks.cells.values())
        }
        if not graded:
            raise NothingToRegrade(f"{assignment}: nobody has a grade yet, nothing to grade again")
        renamed = renamed_cells(old, new, asked)
        gradebooks.create(aside.db_url)
        with Gradebook(aside.db_url, course.course_id) as copy:
            copy_gradebook(gradebook, copy)
            follow(copy, assignment, new, renamed)
            copy.db.commit()
    return graded, renamed


def copy_gradebook(gradebook: Gradebook, copy: Gradebook) -> None:
    """Copy all rows, whatever database each of the two lies in."""
    for table in reversed(Base.metadata.sorted_tables):
        copy.db.execute(table.delete())
    for table in Base.metadata.sorted_tables:
        rows = [dict(row) for row in gradebook.db.execute(select(table)).mappings()]
        if rows:
            copy.db.execute(table.insert(), rows)
    copy.db.commit()


def _options(aside: CourseDirectory, others: Iterable[str]) -> list[str]:
    excluded = ",".join(filter(None, [aside.student_id_exclude, *sorted(others)]))
    return [
        f"--course-dir={aside.root}",
        f"--db={aside.db_url}",
        f"--CourseDirectory.autograded_directory={aside.autograded_directory}",
        f"--CourseDirectory.student_id_exclude={excluded}",
    ]
