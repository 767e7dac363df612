"""The passes of nbgrader's in which a notebook is repaired."""

from dataclasses import replace

from nbformat import NotebookNode
from nbgrader.utils import compute_checksum, has_failed

from attention_lab.handin import code, inspect
from attention_lab.handin.lesson import TEST
from classroom.course import source_folder
from classroom.grading.record import Record
from classroom.preprocessors import CoursePreprocessor
from classroom.repair import flags
from classroom.repair.carry import carry
from classroom.repair.released import Released, read_released


class Repair(CoursePreprocessor):
    """Carries the answers of a notebook, as `reading` makes it, into the released lesson; the first
    pass that sanitises.
    """

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        noted, _ = flags.read(nb)
        released = _released(self, resources)
        inspection = inspect(nb, released.lesson)
        repaired = carry(nb, inspection, released)
        found = flags.flags_of(inspection.findings, released.lesson)
        doubts = flags.doubts_of(inspection.findings, released.lesson)
        other = [flags.OTHER_VERSION.format(name) for name in other_version(nb, released)]
        flags.write(repaired, [*noted, *other[:1], *found], doubts)
        return repaired, resources


def other_version(notebook: NotebookNode, released: Released) -> list[str]:
    """The names of the checks that were released with another text than this course's.

    Their text has the checksum that stands beside it, so no learner has edited them.
    """
    texts = {slot.name: slot.source for slot in released.lesson.slots if slot.kind == TEST}
    return [
        cell.metadata.nbgrader.grade_id
        for cell in notebook.cells
        if (name := _grade_id(cell)) in texts
        and not code.same(cell.source, texts[name])
        and _is_unedited(cell)
    ]


def _grade_id(cell: NotebookNode) -> str | None:
    metadata = cell.metadata.get("nbgrader")
    return metadata.get("grade_id") if isinstance(metadata, dict) else None


def _is_unedited(cell: NotebookNode) -> bool:
    try:
        return cell.metadata.nbgrader.checksum == compute_checksum(cell)
    except (AttributeError, KeyError, TypeError, ValueError):  # damaged metadata
        return False


class SettleDoubts(CoursePreprocessor):
    """Adds the flags to the grading's record; a doubt is one if its step has lost points.

    Comes after the cells were run.
    """

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        noted, doubts = flags.read(nb)
        failed = {_grade_id(cell) for cell in nb.cells if has_failed(cell)}
        lesson = _released(self, resources).lesson
        for slot in lesson.slots:
            if slot.name in doubts and failed & {test.name for test in lesson.tests_of(slot)}:
                noted = [*noted, doubts[slot.name]]
        flags.write(nb, noted, {})
        record = Record.read(nb)
        replace(record, flags=[*noted, *record.flags]).write(nb)
        return nb, resources


def _released(preprocessor: CoursePreprocessor, resources: dict) -> Released:
    names = resources["nbgrader"]
    folder = source_folder(preprocessor.parent.parent.coursedir, names["assignment"])
    return read_released(folder / f"{names['notebook']}.ipynb")
