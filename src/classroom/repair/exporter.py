"""Has nbgrader read what was handed in through `classroom.repair.apart`."""

from pathlib import Path

from classroom.course import source_folder, submission_of
from classroom.grading.exporter import GradingExporter
from classroom.register import withdraw_grades
from classroom.repair.apart import read_submission


class RepairingExporter(GradingExporter):
    """Reads a submitted notebook of an assignment built on `attention_lab` from whatever file
    holds it. nbgrader asks for it by the name it should have.
    """

    def from_filename(self, filename: str, resources: dict | None = None, **kw) -> tuple[str, dict]:
        path, names = Path(filename), resources["nbgrader"]
        # nbgrader has given zero for a notebook of this name.
        if self.is_ours(names["assignment"]) and not path.exists():
            withdraw_grades(self.parent.coursedir, names["assignment"], names["student"], path.stem)
        return super().from_filename(filename, resources, **kw)

    def read(self, path: Path) -> str:
        course = self.parent.coursedir
        assignment, _ = submission_of(course, path)
        return read_submission(course, path.parent, source_folder(course, assignment) / path.name)
