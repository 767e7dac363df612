"""nbgrader's settings for a course with this lesson in it."""

import os
import sys
import warnings
from pathlib import Path

from nbconvert.preprocessors import CSSHTMLHeaderPreprocessor
from nbgrader.preprocessors import (
    CheckCellMetadata,
    ClearHiddenTests,
    ClearMarkScheme,
    ClearOutput,
    ComputeChecksums,
    GetGrades,
    IncludeHeaderFooter,
    InstantiateTests,
    LockCells,
    SaveCells,
)
from sqlalchemy.exc import SAWarning
from traitlets.config import Config
from traitlets.log import get_logger

from classroom import begin, log, rendering
from classroom.collect import LmsCollector, SafeExtractor
from classroom.feedback import (
    NBGRADERS,
    TEMPLATES,
    DropEmptyComments,
    FeedbackExporter,
    HideHiddenTests,
)
from classroom.people import TellDates
from classroom.regrade.guard import GuardedExporter
from classroom.repair.exporter import RepairingExporter
from classroom.stub import WriteStubs

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

FEEDBACK = [GetGrades, TellDates, DropEmptyComments, CSSHTMLHeaderPreprocessor]


def configure(c: Config) -> None:
    """Set up nbgrader for the assignments built on `attention_lab`.

    Call it from `nbgrader_config.py` with the config object found there, above or below settings of
    your own. It may be called more than once: nbgrader reads that file twice. Assignments that do
    not use `attention_lab` are graded as nbgrader grades them by itself. The passes of autograding
    are settled by `classroom.begin`.
    """
    _put_interpreter_on_path()
    _hide_remarks_on_nbgrader()
    log.make_harmless(get_logger())
    begin.install()
    rendering.use_in_formgrader()
    c.Autograde.exporter_class = RepairingExporter
    c.GenerateAssignment.exporter_class = GuardedExporter
    c.GenerateAssignment.preprocessors = list(RELEASE)
    c.ZipCollectApp.extractor_plugin = SafeExtractor
    c.ZipCollectApp.collector_plugin = LmsCollector
    # In TEMPLATES, the formgrader's page is ours, on top of nbgrader's.
    c.HTMLExporter.extra_template_basedirs = [str(TEMPLATES), str(NBGRADERS)]
    c.HTMLExporter.extra_template_paths = [str(NBGRADERS)]
    c.HTMLExporter.preprocessors = [HideHiddenTests]
    c.GenerateFeedback.exporter_class = FeedbackExporter
    c.GenerateFeedback.preprocessors = list(FEEDBACK)
    c.FeedbackExporter.template_name = "returned"
    c.FeedbackExporter.template_file = "returned.html.j2"


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
