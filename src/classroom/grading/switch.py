"""The one place that puts this engine into an nbgrader course."""

from nbgrader.preprocessors import Execute, SaveAutoGrades
from traitlets.config import Config

from classroom.grading.execute import SandboxedExecute
from classroom.grading.grading import GradingExporter
from classroom.grading.record import MarkUnfinished
from classroom.grading.sanitise import HarmlessOutputs, markdown2html
from classroom.grading.save import SaveAllOrNothing

IN_PLACE_OF = {Execute: [SandboxedExecute, HarmlessOutputs], SaveAutoGrades: [SaveAllOrNothing]}


def switch_on(c: Config) -> None:
    """Have `c` grade with this engine. Call it once the lists of passes are set in `c`."""
    c.Autograde.exporter_class = GradingExporter
    c.Autograde.sanitize_preprocessors = [*c.Autograde.sanitize_preprocessors, MarkUnfinished]
    c.Autograde.autograde_preprocessors = [
        pass_
        for theirs in c.Autograde.autograde_preprocessors
        for pass_ in IN_PLACE_OF.get(theirs, [theirs])
    ]
    c.HTMLExporter.filters = {"markdown2html": markdown2html}
