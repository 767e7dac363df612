"""nbgrader's settings for a course with this lesson in it."""

import os
import sys
import warnings
from pathlib import Path

from nbconvert.preprocessors import ClearMetadataPreprocessor, CSSHTMLHeaderPreprocessor
from nbgrader.preprocessors import (
    AssignLatePenalties,
    CheckCellMetadata,
    ClearHiddenTests,
    ClearMarkScheme,
    ClearOutput,
    ComputeChecksums,
    DeduplicateIds,
    GetGrades,
    IgnorePattern,
    IncludeHeaderFooter,
    InstantiateTests,
    LimitOutput,
    LockCells,
    SaveCells,
)
from sqlalchemy.exc import SAWarning
from traitlets.config import Config

from classroom.collect import LmsCollector, SafeExtractor
from classroom.feedback import (
    NBGRADERS,
    TEMPLATES,
    DropEmptyComments,
    FeedbackExporter,
    HideHiddenTests,
)
from classroom.grading.execute import SandboxedExecute
from classroom.grading.once import (
    CheckCellMetadataOnce,
    OverwriteCellsOnce,
    OverwriteKernelspecOnce,
)
from classroom.grading.record import MarkUnfinished
from classroom.grading.sanitise import DropMadeUpNotes, HarmlessOutputs, Markdown, markdown2html
from classroom.grading.save import SaveAllOrNothing
from classroom.people import EnterPerson, TellDates
from classroom.preprocessors import OnlyErrorsCount, UseCourseCode
from classroom.register import pre_convert_hook
from classroom.regrade.guard import GuardedExporter
from classroom.repair.exporter import RepairingExporter
from classroom.repair.passes import Repair, SettleDoubts
from classroom.stub import WriteStubs

SANITIZE = [
    DropMadeUpNotes,
    Repair,
    ClearOutput,
    DeduplicateIds,
    OverwriteKernelspecOnce,
    OverwriteCellsOnce,
    CheckCellMetadataOnce,
    MarkUnfinished,
]

RELEASE = [
    IncludeHeaderFooter,
    InstantiateTests,
    LockCells,
    WriteStubs,
    ClearOutput,
    CheckCellMetadata,
    ComputeChecksums,
    SaveCells,
    ClearHiddenTests,
    ClearMarkScheme,
    ComputeChecksums,
    CheckCellMetadata,
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

FEEDBACK = [GetGrades, TellDates, DropEmptyComments, CSSHTMLHeaderPreprocessor]


def configure(c: Config) -> None:
    """Set up nbgrader for the assignments built on `attention_lab`.

    Call it from `nbgrader_config.py` with the config object found there. It may be called more
    than once: nbgrader reads that file twice. Assignments that do not use `attention_lab` are
    graded as nbgrader grades them by itself.
    """
    _put_interpreter_on_path()
    _hide_remarks_on_nbgrader()
    c.Autograde.exporter_class = RepairingExporter
    c.Autograde.sanitize_preprocessors = list(SANITIZE)
    c.Autograde.autograde_preprocessors = list(AUTOGRADE)
    c.Autograde.pre_convert_hook = pre_convert_hook(c)
    c.GenerateAssignment.exporter_class = GuardedExporter
    c.GenerateAssignment.preprocessors = list(RELEASE)
    c.ZipCollectApp.extractor_plugin = SafeExtractor
    c.ZipCollectApp.collector_plugin = LmsCollector
    # In TEMPLATES, the formgrader's page is ours, on top of nbgrader's.
    c.HTMLExporter.extra_template_basedirs = [str(TEMPLATES), str(NBGRADERS)]
    c.HTMLExporter.extra_template_paths = [str(NBGRADERS)]
    c.HTMLExporter.filters = {"markdown2html": Markdown}
    c.HTMLExporter.preprocessors = [HideHiddenTests]
    c.GenerateFeedback.exporter_class = FeedbackExporter
    c.GenerateFeedback.preprocessors = list(FEEDBACK)
    c.FeedbackExporter.template_name = "returned"
    c.FeedbackExporter.template_file = "returned.html.j2"
    c.FeedbackExporter.filters = {"markdown2html": markdown2html}


def _put_interpreter_on_path() -> None:
    """nbgrader runs `alembic` by name, which fails unless the environment is activated.

    It comes last, so that programs that notebooks start stay the same.
    """
    folder = str(Path(sys.executable).parent)
    path = os.environ.get("PATH", "").split(os.pathsep)
    if folder not in path:
        os.environ["PATH"] = os.pathsep.join([*filter(None, path), folder])


def _hide_remarks_on_nbgrader() -> None:
    """SQLAlchemy's, on how nbgrader enters a submission, six lines each time."""
    warnings.filterwarnings("ignore", "Object of type <Submitted", SAWarning)
