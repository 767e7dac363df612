"""The check before handing in: what the grader will find in the saved notebook."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from time import localtime, strftime

from IPython import get_ipython

from attention_lab.handin import code
from attention_lab.handin.inspect import Inspection, Kind, inspect
from attention_lab.handin.lesson import SETUP, SOLUTION, TEST, Lesson, released_lessons
from attention_lab.handin.saved import NotFound, Saved, saved_notebook

TO_DO = {
    Kind.MISSING: "no cell answers it. Write it into a new cell, or take its cell from a fresh "
    "download.",
    Kind.UNANSWERED: "not written yet. Put your code in place of `raise NotWrittenYet`.",
    Kind.BROKEN: "its cell is not valid Python. Run the cell to see where.",
    Kind.NAMELESS: "its cell defines nothing of that name. Call it as the exercise does.",
    Kind.NOT_CODE: "your answer is in a text cell. Select it, press Esc, then Y.",
    Kind.ELSEWHERE: "answered in a cell other than its own. Move your answer there.",
    Kind.SHARED: "answered in the cell of another step. Move your answer to its own cell.",
    Kind.SPLIT: "your function is split over two cells. Merge them.",
    Kind.RIVALS: "answered in several cells. Keep the one that counts and delete the others.",
    Kind.ANOTHER: "a cell further down defines it again. What counts is the answer in its own "
    "cell: is it the one you want?",
}
GRADER_COPES = {
    Kind.MISSING: "gone. The grader puts it back.",
    Kind.EDITED: "changed. The grader runs its own.",
    Kind.COPIED: "here more than once. The grader uses one.",
}
UNMARKED = (
    "1 cell has lost nbgrader's mark. The grader knows it by its id or its text.",
    "{} cells have lost nbgrader's marks. The grader knows them by their ids or their texts.",
)
FOR_YOURSELF = "This edition is for learning by yourself: there is nothing to hand in."
NOT_RUN = "{} of {} checks have no result here. Choose Run → Run All Cells, then save."
FAILED = "did not pass when it was last run. {}"
ENDED = "ended with {} when it was last run. {}"
UNWRITTEN = (
    "A step that is not written costs its own points and no others. You may hand in without it."
)
WRONG_NAME = "The file is called {}. Rename it to {}."
UNSAVED = "{}: what you ran last is not in the saved file. Save the notebook."
NOTHING = "No cell of the lesson is in this notebook. Is it the right one?"


@dataclass(frozen=True, repr=False)
class Readiness:
    """What was found. to_do: what to mend before handing in. copes: what may stay as it is."""

    to_do: tuple[str, ...] = ()
    copes: tuple[str, ...] = ()

    def __bool__(self):
        return not self.to_do

    def __repr__(self):
        if not self.to_do:
            return "Ready to hand in."
        count = len(self.to_do)
        return f"Not finished yet: {count} {'thing' if count == 1 else 'things'} to do."


def ready_to_submit(path: str | Path | None = None) -> Readiness | None:
    """Look at the saved notebook, print what the grader will find in it, and what to do.

    path: the notebook's file, where it cannot be found by itself. Raises nothing. While the
    notebook is being graded it does nothing and returns None.
    """
    if os.environ.get("NBGRADER_EXECUTION"):
        return None
    try:
        return _look(path)
    except NotFound as reason:
        return _told("The notebook was not looked at", Readiness((str(reason),)))
    except Exception as error:  # a damaged file must not keep anybody from handing in
        reason = f"{type(error).__name__}: {error}. Show this to whoever teaches your course."
        return _told("The notebook was not looked at", Readiness((reason,)))


def _look(path):
    lessons = released_lessons()
    saved = saved_notebook(path, tuple(f"{lesson.notebook}.ipynb" for lesson in lessons))
    looked_at = [(inspect(saved.content, lesson), lesson) for lesson in lessons]
    inspection, lesson = max(looked_at, key=lambda looked: len(looked[0].found))
    if not inspection.found:
        return _told(_heading(saved), Readiness((NOTHING,)))
    if _is_for_self_learners(inspection):
        unanswered = [text for text in _to_do(inspection, lesson) if TO_DO[Kind.UNANSWERED] in text]
        return _told(FOR_YOURSELF, Readiness(tuple(unanswered)))
    to_do = [
        *_name(saved, lesson),
        *_unsaved(saved, inspection, lesson),
        *_to_do(inspection, lesson),
        *_results(saved, inspection, lesson),
    ]
    copes = (*_copes(inspection), *_unwritten(inspection, lesson))
    return _told(_heading(saved), Readiness(tuple(to_do), copes))


def _told(heading: str, readiness: Readiness) -> Readiness:
    print(heading)
    for sign, texts in (("\N{BALLOT X}", readiness.to_do), ("·", readiness.copes)):
        for text in texts:
            print(f"  {sign} {text}")
    return readiness


def _heading(saved: Saved) -> str:
    if saved.path is None:
        return "The notebook as this page shows it:"
    when = strftime("%H:%M", localtime(saved.path.stat().st_mtime))
    return f"{saved.path.name} as it was saved at {when}:"


def _is_for_self_learners(inspection: Inspection) -> bool:
    return any(cell.source.startswith("%%course_files") for cell in inspection.cells)


def _name(saved: Saved, lesson: Lesson) -> Iterator[str]:
    wanted = f"{lesson.notebook}.ipynb"
    if saved.path is not None and saved.path.name != wanted:
        yield WRONG_NAME.format(saved.path.name, wanted)


def _to_do(inspection: Inspection, lesson: Lesson) -> Iterator[str]:
    for finding in inspection.findings:
        slot = finding.slot
        if slot.kind == SOLUTION and lesson.tests_of(slot) and finding.kind in TO_DO:
            yield f"{slot.name}: {TO_DO[finding.kind]}"


def _copes(inspection: Inspection) -> Iterator[str]:
    unmarked = sum(finding.kind == Kind.UNMARKED for finding in inspection.findings)
    if unmarked:
        yield UNMARKED[unmarked > 1].format(unmarked)
    for finding in inspection.findings:
        needs_learner = finding.kind == Kind.MISSING and finding.slot.kind not in (TEST, SETUP)
        if finding.kind in GRADER_COPES and not needs_learner:
            yield f"{finding.slot.name}: {GRADER_COPES[finding.kind]}"


def _unwritten(inspection: Inspection, lesson: Lesson) -> Iterator[str]:
    if any(
        finding.kind == Kind.UNANSWERED and lesson.tests_of(finding.slot)
        for finding in inspection.findings
    ):
        yield UNWRITTEN


def _unsaved(saved: Saved, inspection: Inspection, lesson: Lesson) -> Iterator[str]:
    """The steps whose definition, as it was last run, stands in no cell of the saved file."""
    shell = get_ipython()
    if shell is None or saved.path is None:
        return
    for slot in lesson.slots:
        if slot.kind == SOLUTION and lesson.tests_of(slot):
            ran = [text for text in shell.history_manager.input_hist_raw if slot.name in text]
            defined = [text for text in ran if code.defines(text, slot.name)]
            if defined and not any(
                code.same(cell.source, defined[-1]) for cell in inspection.cells
            ):
                yield UNSAVED.format(slot.name)


def _results(saved: Saved, inspection: Inspection, lesson: Lesson) -> Iterator[str]:
    """What the outputs in the file say of the checks, and of answers that raise."""
    checks = [slot for slot in lesson.slots if slot.kind == TEST and slot.name in inspection.found]
    not_run = 0
    for slot in lesson.slots:
        if slot.name not in inspection.found or slot.kind not in (TEST, SETUP, SOLUTION):
            continue
        cell = saved.content["cells"][inspection.found[slot.name].index]
        if error := _error(cell):
            yield f"{slot.name}: {error}"
        elif slot in checks and not cell.get("outputs"):
            not_run += 1
    if not_run:
        yield NOT_RUN.format(not_run, len(checks))


def _error(cell: dict) -> str | None:
    for output in cell.get("outputs") or []:
        if output.get("output_type") == "error":
            name = output.get("ename")
            first = str(output.get("evalue", "")).strip().partition("\n")[0]
            told = FAILED.format(first) if name == "Mistake" else ENDED.format(name, first)
            return told.rstrip()
    return None
