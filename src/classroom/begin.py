"""What is settled before nbgrader's autograde or generate_feedback runs anything, however they were
configured.

`classroom.configure` may stand above, below or between a course's own settings, and the command
line comes after all of them. So what nbgrader is going to do is looked at when nothing can change
it any more: our passes are put in place of nbgrader's, other passes are kept, and where the
sandbox, the repair or the cleaning would be left out, the command ends in words.
"""

import fnmatch
import os
from collections.abc import Iterable
from glob import glob
from pathlib import Path

from nbclient import NotebookClient
from nbconvert.exporters import HTMLExporter, NotebookExporter
from nbconvert.preprocessors import ClearMetadataPreprocessor
from nbgrader.converters import Autograde, GenerateFeedback
from nbgrader.converters.base import NbGraderException
from nbgrader.preprocessors import (
    AssignLatePenalties,
    CheckCellMetadata,
    ClearOutput,
    DeduplicateIds,
    Execute,
    IgnorePattern,
    LimitOutput,
    OverwriteCells,
    OverwriteKernelspec,
    SaveAutoGrades,
)
from traitlets.utils.importstring import import_item

from classroom.course import (
    UnusualCourse,
    autograded_folder,
    require_usual,
    source_folder,
    source_notebooks,
    submission_of,
    uses_attention_lab,
)
from classroom.feedback import FeedbackExporter
from classroom.grading.execute import SandboxedExecute
from classroom.grading.once import (
    CheckCellMetadataOnce,
    OverwriteCellsOnce,
    OverwriteKernelspecOnce,
)
from classroom.grading.record import MarkUnfinished
from classroom.grading.sanitise import DropMadeUpNotes, HarmlessOutputs
from classroom.grading.save import SaveAllOrNothing
from classroom.people import EnterPerson
from classroom.preprocessors import OnlyErrorsCount, UseCourseCode
from classroom.register import prepare
from classroom.repair.exporter import RepairingExporter
from classroom.repair.passes import SettleDoubts
from classroom.ungraded import is_usable, reason, submitted_names, timestamp

SANITIZE = [
    DropMadeUpNotes,
    ClearOutput,
    DeduplicateIds,
    OverwriteKernelspecOnce,
    OverwriteCellsOnce,
    CheckCellMetadataOnce,
    MarkUnfinished,
]

AUTOGRADE = [
    UseCourseCode,
    SandboxedExecute,
    SettleDoubts,
    HarmlessOutputs,
    OnlyErrorsCount,
    IgnorePattern,
    ClearMetadataPreprocessor,
    LimitOutput,
    EnterPerson,
    SaveAllOrNothing,
    AssignLatePenalties,
    CheckCellMetadataOnce,
]

INSTEAD = {
    Execute: SandboxedExecute,
    OverwriteCells: OverwriteCellsOnce,
    OverwriteKernelspec: OverwriteKernelspecOnce,
    CheckCellMetadata: CheckCellMetadataOnce,
    SaveAutoGrades: SaveAllOrNothing,
}
# A course may do without these.
OPTIONAL = {ClearOutput, IgnorePattern, ClearMetadataPreprocessor, LimitOutput, AssignLatePenalties}

# By command: our exporter, nbgrader's, and what any other lacks.
EXPORTERS = {
    Autograde: (
        RepairingExporter,
        NotebookExporter,
        "neither repairs a notebook nor runs it in a sandbox",
    ),
    GenerateFeedback: (
        FeedbackExporter,
        HTMLExporter,
        "neither cleans what a student wrote nor bounds what that takes",
    ),
}

_init_notebooks, _init_assignment = Autograde.init_notebooks, Autograde.init_assignment
_init_feedback = GenerateFeedback.init_notebooks


class Refused(ValueError):
    """What nbgrader was told to run must not run; the message says why."""


def install() -> None:
    """Have the commands of this process begin here; other assignments go on as ever."""
    Autograde.init_notebooks, Autograde.init_assignment = _begin, _take
    GenerateFeedback.init_notebooks = _begin_feedback


def is_installed() -> bool:
    return Autograde.init_notebooks is _begin


def _begin(converter: Autograde) -> None:
    """nbgrader's list of what was handed in, and what is settled before anything is read."""
    course = converter.coursedir
    if not _assignments(course):
        if DropMadeUpNotes not in converter.sanitize_preprocessors:
            passes = [DropMadeUpNotes, *converter.sanitize_preprocessors]
            converter.sanitize_preprocessors = passes
        _init_notebooks(converter)
        return
    try:
        require_usual(course)
        _settle(converter)
    except (Refused, UnusualCourse) as error:
        _give_up(converter, error)
    course.get_existing_timestamp = timestamp
    _list_notebooks(converter)


def _begin_feedback(converter: GenerateFeedback) -> None:
    """nbgrader's list of what was graded, once it is settled who makes the pages."""
    if _assignments(converter.coursedir):
        try:
            require_usual(converter.coursedir)
            converter.exporter_class = settled_exporter(converter.exporter_class, GenerateFeedback)
            for kind in converter.preprocessors:
                _refuse_to_run(_imported(kind), GenerateFeedback)
        except (Refused, UnusualCourse) as error:
            _give_up(converter, error)
    _init_feedback(converter)


def _give_up(converter, error):
    converter.log.error("%s", error)
    raise NbGraderException(str(error)) from error


def _take(converter: Autograde, assignment: str, student: str) -> None:
    """nbgrader's entry of a submission. The files beside it are not nbgrader's to copy: it would
    wait for a pipe, and look at each of a thousand files a thousand times."""
    course, ignore = converter.coursedir, converter.coursedir.ignore
    if not uses_attention_lab(course, assignment):
        _init_assignment(converter, assignment, student)
        return
    prepare(converter, assignment, student)
    course.ignore = ["*"]
    try:
        _init_assignment(converter, assignment, student)
    finally:
        course.ignore = ignore
    for file in converter.exporter.grading.files_beside(assignment, student):
        path = autograded_folder(course, assignment, student) / file.name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(file.content)


def _assignments(course):
    """Those of the command's that are built on `attention_lab`; it may ask for a pattern."""
    folders = sorted(source_folder(course, "").glob("*/"))
    names = fnmatch.filter((folder.name for folder in folders), course.assignment_id)
    return [name for name in names if uses_attention_lab(course, name)]


# --- the passes ---


def _settle(converter):
    converter.exporter_class = settled_exporter(converter.exporter_class, Autograde)
    converter.sanitize_preprocessors = settled(converter.sanitize_preprocessors, SANITIZE)
    converter.autograde_preprocessors = settled(converter.autograde_preprocessors, AUTOGRADE)
    _require_enabled(converter)


def settled_exporter(chosen: type, command: type) -> type:
    """The exporter of a command: the chosen one if it is one of ours, ours in place of nbgrader's.

    Raises:
        Refused: it is another.
    """
    ours, nbgraders, lacks = EXPORTERS[command]
    if issubclass(chosen, ours):
        return chosen
    if chosen is nbgraders:
        return ours
    raise Refused(
        f"c.{command.__name__}.exporter_class is {chosen.__name__}, which {lacks}: take the line "
        "out of nbgrader_config.py. Nothing was run."
    )


def settled(chosen: Iterable, ours: list[type]) -> list:
    """The chosen passes: ours in place of nbgrader's and in our order, all others kept, each behind
    the pass that it followed.

    Raises:
        Refused: one is unknown, or would run notebooks outside the sandbox.
    """
    last, following = None, {None: []}
    for kind in map(_imported, chosen):
        kind = INSTEAD.get(kind, kind) if isinstance(kind, type) else kind
        if kind in ours:
            last = kind
            following.setdefault(kind, [])
        else:
            _refuse_to_run(kind, Autograde)
            following[last].append(kind)
    for kind in ours:
        if kind not in OPTIONAL:
            following.setdefault(kind, [])
    known = [kind for kind in ours if kind in following]
    return following[None] + [one for kind in known for one in (kind, *following[kind])]


def _imported(kind):
    if not isinstance(kind, str):
        return kind
    try:
        return import_item(kind)
    except ImportError as error:
        raise Refused(f"{kind} cannot be imported ({error}). Nothing was run.") from None


def _refuse_to_run(kind, command):
    if issubclass(kind if isinstance(kind, type) else type(kind), NotebookClient):
        raise Refused(
            f"{getattr(kind, '__name__', kind)} runs notebooks outside every sandbox: take it out "
            f"of c.{command.__name__}'s preprocessors. Nothing was run."
        )


def _require_enabled(converter):
    kinds = [*converter.sanitize_preprocessors, *converter.autograde_preprocessors]
    for kind in (k for k in kinds if k in (*SANITIZE, *AUTOGRADE) and k not in OPTIONAL):
        if not kind(config=converter.config).enabled:
            raise Refused(
                f"{kind.__name__} is turned off, by nbgrader_config.py or --no-execute: then "
                "nothing would tell right from wrong, or clean what is shown. Nothing was run."
            )


# --- what was handed in ---


def _list_notebooks(converter):
    """List each submission by the notebooks that it should have, whatever lies in its folder: what
    is not there, or cannot be read, is then that student's error, and said.
    """
    course, assignments = converter.coursedir, _assignments(converter.coursedir)
    if assignments != [course.assignment_id]:
        _init_notebooks(converter)
    folders = [
        folder
        for name in assignments
        for folder in sorted(glob(converter._format_source(name, course.student_id)))
        if os.path.isdir(folder) and is_usable(submission_of(course, folder)[1])
    ]
    _say_who_is_passed_over(converter, assignments, folders)
    if not folders:
        _init_notebooks(converter)  # which says so
    for folder in folders:
        names = source_notebooks(course, submission_of(course, folder)[0])
        wanted = [n for n in names if fnmatch.fnmatchcase(Path(n).stem, course.notebook_id)]
        converter.assignments[folder] = [os.path.join(folder, name) for name in wanted]


def _say_who_is_passed_over(converter, assignments, folders):
    course = converter.coursedir
    taken = {submission_of(course, folder) for folder in folders}
    for assignment in assignments if course.student_id == "*" else ():
        for student in submitted_names(course, assignment):
            if (assignment, student) not in taken:
                why = reason(course, assignment, student)
                converter.log.error("No grade for %s: %s", student, why)
