"""The pass of nbgrader's that settles, after the cells were run, what repair left in doubt."""

from dataclasses import replace

from nbformat import NotebookNode
from nbgrader.utils import has_failed

from classroom.course import source_folder
from classroom.grading.record import Record
from classroom.preprocessors import CoursePreprocessor
from classroom.repair import flags
from classroom.repair.released import read_released


class SettleDoubts(CoursePreprocessor):
    """Adds the flags to the grading's record; a doubt is one if its step has lost points."""

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        notes = flags.read(nb)
        failed = {
            cell.metadata.get("nbgrader", {}).get("grade_id")
            for cell in filter(has_failed, nb.cells)
        }
        found = list(notes.flags)
        for slot in self._lesson(resources).slots:
            tests = {test.name for test in self._lesson(resources).tests_of(slot)}
            if slot.name in notes.doubts and failed & tests:
                found.append(notes.doubts[slot.name])
        flags.write(nb, replace(notes, flags=found, doubts={}))
        record = Record.read(nb)
        replace(record, flags=[*found, *notes.remarks, *record.flags]).write(nb)
        return nb, resources

    def _lesson(self, resources):
        names = resources["nbgrader"]
        folder = source_folder(self.parent.parent.coursedir, names["assignment"])
        return read_released(folder / f"{names['notebook']}.ipynb").lesson
