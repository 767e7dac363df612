"""A submission as it is graded: its work, carried into the released lesson, with what is noted."""

from dataclasses import replace
from pathlib import Path

from nbformat import NotebookNode
from nbgrader.utils import compute_checksum

from attention_lab.handin import code
from attention_lab.handin.lesson import TEST
from classroom.course import PACKAGE
from classroom.files import files_in, printable
from classroom.grading.flags import mentions
from classroom.repair import flags
from classroom.repair.carry import carry
from classroom.repair.reading import MOST, Most
from classroom.repair.released import Released
from classroom.repair.work import Work, find_work

NO_WORK = ("._*", "__MACOSX", "__pycache__", ".ipynb_checkpoints", PACKAGE)


def mended(folder: Path, released: Released, most: Most = MOST) -> NotebookNode:
    """The work in a student's folder, ready to be graded.

    Raises:
        Unreadable: there is none; the message says why.
    """
    work = find_work(folder, released.lesson, most)
    notebook = mend(work, released)
    notes = flags.read(notebook)
    flags.write(notebook, replace(notes, remarks=_remarks(notebook, folder, released)))
    return notebook


def mend(work: Work, released: Released) -> NotebookNode:
    """The notebook of a work, carried into the released lesson."""
    repaired = carry(work.notebook, work.inspection, released)
    found = flags.flags_of(work.inspection.findings, released.lesson)
    doubts = flags.doubts_of(work.inspection.findings, released.lesson)
    other = [flags.OTHER_VERSION.format(name) for name in other_version(work.notebook, released)]
    repaired.metadata = NotebookNode()
    flags.write(repaired, flags.Notes([*work.flags, *other[:1], *found], doubts))
    return repaired


def _remarks(notebook: NotebookNode, folder: Path, released: Released) -> list[str]:
    """What a human should look at in the student's code, in the modules beside it, and what of the
    folder is left out."""
    cells = {cell.source for cell in notebook.cells if cell.cell_type == "code"}
    names = set().union(*map(mentions, cells - released.given))
    remarks = [f"mentions {name}" for name in sorted(names)]
    beside = files_in(folder, NO_WORK)
    for path in beside.files:
        name = path.relative_to(folder)
        if path.suffix == ".py" and not (released.folder / name).exists():
            text = path.read_bytes().decode(errors="replace")
            remarks += [f"mentions {m} in {printable(str(name))}" for m in sorted(mentions(text))]
    return remarks + [f"left out what lies beside it: {what}" for what in beside.left_out]


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
