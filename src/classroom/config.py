"""nbgrader's settings for a course with this lesson in it."""

import os
import sys
import warnings
from pathlib import Path

from nbconvert.preprocessors import ClearMetadataPreprocessor, CSSHTMLHeaderPreprocessor
from nbgrader.preprocessors import (
    AssignLatePenalties,
    ClearOutput,
    DeduplicateIds,
    GetGrades,
    IgnorePattern,
    LimitOutput,
)
from sqlalchemy.exc import SAWarning
from traitlets.config import Config

from classroom.collect import LmsCollector, SafeExtractor
from classroom.feedback import NBGRADERS, TEMPLATES, DropEmptyComments, FeedbackExporter
from classroom.grading.execute import SandboxedExecute
from classroom.grading.once import (
    CheckCellMetadataOnce,
    OverwriteCellsOnce,
    OverwriteKernelspecOnce,
)
from classroom.grading.record import MarkUnfinished
from classroom.grading.sanitise import DropMadeUpNotes, HarmlessOutputs, markdown2html
from classroom.grading.save import SaveAllOrNothing
from classroom.preprocessors import OnlyErrorsCount, UseCourseCode
from classroom.register import pre_convert_hook
from classroom.regrade.guard import GuardedExporter
from classroom.repair.exporter import RepairingExporter
from classroom.repair.passes import Repair, SettleDoubts
from classroom.stub import CODE_STUB

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

AUTOGRADE = [
    UseCourseCode,
    SandboxedExecute,
    SettleDoubts,
    HarmlessOutputs,
    OnlyErrorsCount,
    IgnorePattern,
    ClearMetadataPreprocessor,
    LimitOutput,
    SaveAllOrNothing,
    AssignLatePenalties,
    CheckCellMetadataOnce,
]


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
    c.ClearSolutions.code_stub = CODE_STUB
    c.ZipCollectApp.extractor_plugin = SafeExtractor
    c.ZipCollectApp.collector_plugin = LmsCollector
    # 4 s, the default, drops right notebooks on a busy machine.
    c.Execute.iopub_timeout = 60
    c.Execute.timeout = 60
    # A widget cannot live in a feedback page; without stored state its plain text is shown.
    c.Execute.store_widget_state = False
    # The formgrader's page, and below it the feedback's.
    c.HTMLExporter.filters = {"markdown2html": markdown2html}
    c.HTMLExporter.extra_template_basedirs = [str(TEMPLATES), str(NBGRADERS)]
    c.HTMLExporter.template_name = "by_hand"
    c.HTMLExporter.template_file = "by_hand.html.j2"
    c.GenerateFeedback.exporter_class = FeedbackExporter
    c.GenerateFeedback.preprocessors = [GetGrades, DropEmptyComments, CSSHTMLHeaderPreprocessor]
    c.FeedbackExporter.template_name = "returned"
    c.FeedbackExporter.template_file = "returned.html.j2"


def _put_interpreter_on_path() -> None:
    """nbgrader runs `alembic` by name, which fails unless the environment is activated."""
    folder = str(Path(sys.executable).parent)
    path = os.environ.get("PATH", "").split(os.pathsep)
    if folder not in path:
        os.environ["PATH"] = os.pathsep.join([folder, *path])


def _hide_remarks_on_nbgrader() -> None:
    """SQLAlchemy's, on how nbgrader enters a submission, six lines each time."""
    warnings.filterwarnings("ignore", "Object of type <Submitted", SAWarning)
