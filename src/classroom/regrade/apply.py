"""Taking over what a trial found. What was there before is kept, and nothing a human gave changes.

In the folder `regrade/<assignment>/<time of the trial>/` lie afterwards `grades.csv`, all points
and comments as they were, also those of removed cells, and `autograded/`, the notebooks as they
were. Cut off at any moment, it is finished by the same command.
"""

import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

from nbgrader.api import (
    Comment,
    Grade,
    Gradebook,
    Notebook,
    SubmittedAssignment,
    SubmittedNotebook,
)
from nbgrader.coursedir import CourseDirectory
from nbgrader.utils import rmtree
from sqlalchemy import select

from classroom.course import autograded_folder, with_settings
from classroom.export.table import harmless, number, write_table
from classroom.regrade.changes import Changes
from classroom.regrade.definition import follow
from classroom.regrade.marks import (
    Marks,
    Note,
    of_assignment,
    of_cells,
    of_notebooks,
)
from classroom.regrade.trial import FOLDER, Trial, folder_of, trial_course

HEADING = (
    "student", "notebook", "cell", "auto_score", "manual_score", "extra_credit",
    "needs_manual_grade", "auto_comment", "manual_comment", "late_penalty_of_notebook",
)  # fmt: skip


def apply(course: CourseDirectory, assignment: str, trial: Trial, changes: Changes) -> Path:
    """Take over a trial; returns the folder in which lies what was there before."""
    kept = folder_of(course, assignment) / trial.time.replace(" ", "-").replace(":", "")
    kept.mkdir(exist_ok=True)
    _keep_grades(kept / "grades.csv", changes.before)
    with Gradebook(course.db_url, course.course_id) as gradebook:
        follow(gradebook, assignment, changes.definition, trial.renamed)
        gradebook.db.flush()
        _write_marks(gradebook, assignment, changes.after)
        gradebook.db.commit()
    aside = trial_course(course, assignment)
    before = with_settings(
        course, autograded_directory=str(Path(FOLDER, assignment, kept.name, "autograded"))
    )
    for student in trial.students:
        folders = (
            autograded_folder(place, assignment, student) for place in (course, aside, before)
        )
        _exchange(*folders)
    rmtree(str(folder_of(course, assignment) / "trial"))
    return kept


def _keep_grades(path: Path, before: Mapping[str, Marks]) -> None:
    if path.exists():  # of an earlier run that was cut off
        return
    unfinished = path.with_suffix(".part")
    write_table(unfinished, [HEADING, *_rows(before)])
    unfinished.replace(path)


def _rows(before: Mapping[str, Marks]) -> Iterable[list[str]]:
    for student, marks in sorted(before.items()):
        for name in sorted(marks.cells.keys() | marks.notes.keys()):
            mark, note = marks.cells.get(name), marks.notes.get(name, Note(None, None))
            points = ["", "", "", ""]
            if mark is not None:
                points = [*map(number, (mark.auto, mark.manual, mark.extra)), str(mark.needs_human)]
            comments = [harmless(text or "") for text in (note.auto, note.manual)]
            yield [harmless(student), *name, *points, *comments, number(marks.penalties[name[0]])]


def _write_marks(gradebook: Gradebook, assignment: str, after: Mapping[str, Marks]) -> None:
    """Write what the autograder says; a human's points and comments stay as they are."""
    rows, write = gradebook.db.execute, gradebook.db.bulk_update_mappings
    write(
        Grade,
        [
            {"id": key, "auto_score": mark.auto, "needs_manual_grade": mark.needs_human}
            for key, student, *cell in rows(of_cells(Grade, assignment))
            if student in after
            for mark in [after[student].cells[tuple(cell)]]
        ],
    )
    write(
        Comment,
        [
            {"id": key, "auto_comment": after[student].notes[tuple(cell)].auto}
            for key, student, *cell in rows(of_cells(Comment, assignment))
            if student in after
        ],
    )
    notebooks = select(SubmittedNotebook.id, SubmittedAssignment.student_id, Notebook.name)
    write(
        SubmittedNotebook,
        [
            {
                "id": key,
                "late_submission_penalty": after[student].penalties[notebook],
                "flagged": after[student].flagged[notebook],
            }
            for key, student, notebook in rows(
                of_notebooks(notebooks.select_from(SubmittedNotebook), assignment)
            )
            if student in after
        ],
    )
    submissions = select(SubmittedAssignment.id, SubmittedAssignment.student_id)
    write(
        SubmittedAssignment,
        [
            {"id": key, "timestamp": after[student].timestamp}
            for key, student in rows(of_assignment(submissions, assignment))
            if student in after
        ],
    )


def _exchange(current: Path, new: Path, before: Path) -> None:
    """Move a student's folders to where they belong, unless an earlier run has done so."""
    if not new.exists():
        return
    if current.exists():
        before.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(current, before)
    current.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(new, current)
