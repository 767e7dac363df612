"""The student version, made by nbgrader itself."""

from pathlib import Path
from tempfile import TemporaryDirectory

from nbgrader.converters import GenerateAssignment
from nbgrader.coursedir import CourseDirectory
from nbgrader.utils import capture_log
from traitlets.config import Config

from classroom.editions.lesson import LessonError
from classroom.stub import CODE_STUB


def make_release(source: str, *, assignment: str, name: str) -> str:
    """nbgrader's student version of the instructor version ``source``, both as JSON text.

    ``nbgrader generate_assignment`` runs in a scratch folder and without a gradebook: on a
    gradebook that has submissions it can fail and leave the release folder empty.

    Raises:
        LessonError: nbgrader refused the notebook; the message is nbgrader's log.
    """
    with TemporaryDirectory() as scratch:
        notebook = Path(scratch, "source", assignment, f"{name}.ipynb")
        notebook.parent.mkdir(parents=True)
        notebook.write_text(source, encoding="utf-8")
        result = capture_log(_generate_assignment(scratch, assignment))
        if not result["success"]:
            raise LessonError(name, [result.get("log", result["error"])])
        return Path(scratch, "release", assignment, notebook.name).read_text(encoding="utf-8")


def _generate_assignment(root: str, assignment: str) -> GenerateAssignment:
    config = Config()
    config.CourseDirectory.root = root
    config.CourseDirectory.assignment_id = assignment
    config.GenerateAssignment.no_database = True
    config.SaveCells.enabled = False
    config.ClearSolutions.code_stub = CODE_STUB
    return GenerateAssignment(coursedir=CourseDirectory(config=config), config=config)
