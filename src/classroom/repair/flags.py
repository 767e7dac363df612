"""What a human should look at, in words. Nothing is deducted for it.

It is kept in the metadata of the sanitised and of the autograded notebook, and added to the flags
of the grading's record:

flags    what had to be guessed, or could not be found
doubts   by step: what is a flag only if the step loses points
remarks  what else there is to know, and no guess
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field

from nbformat import NotebookNode

from attention_lab.handin.inspect import Finding, Kind
from attention_lab.handin.lesson import SOLUTION, WRITTEN, Lesson

KEY = "repair"

FLAGS = {
    Kind.ELSEWHERE: "{}: graded what another cell defines by that name",
    Kind.SHARED: "{}: graded what the cell of another step defines by that name",
    Kind.RIVALS: "{}: answered several times; graded the last answer before the checks",
    Kind.SPLIT: "{}: stood in two cells; graded as one",
    Kind.NOT_CODE: "{}: stood in a text cell; graded as code",
}
DOUBTS = {
    Kind.MISSING: "{}: no cell answers it",
    Kind.NAMELESS: "{0}: its cell defines no {0}",
    Kind.BROKEN: "{}: its cell is no Python",
    Kind.ANOTHER: "{}: lost points, and a cell further down has another answer",
}
OTHER_VERSION = "comes from another version of the lesson: its {} differs"


@dataclass(frozen=True)
class Notes:
    """What is noted in a notebook."""

    flags: list[str] = field(default_factory=list)
    doubts: dict[str, str] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)


def write(notebook: NotebookNode, notes: Notes) -> None:
    notebook.metadata[KEY] = asdict(notes)


def read(notebook: NotebookNode) -> Notes:
    """The notes of a notebook; empty if nothing was noted."""
    return Notes(**notebook.metadata.get(KEY, {}))


def flags_of(findings: Iterable[Finding], lesson: Lesson) -> list[str]:
    """What is to be looked at however the checks turn out: one line for all steps of a kind."""
    steps = defaultdict(list)
    for finding in findings:
        is_flag = finding.kind in FLAGS and lesson.tests_of(finding.slot)
        if is_flag or (finding.kind in DOUBTS and finding.slot.kind == WRITTEN):
            steps[finding.kind].append(finding.slot.name)
    return [(FLAGS | DOUBTS)[kind].format(", ".join(names)) for kind, names in steps.items()]


def doubts_of(findings: Iterable[Finding], lesson: Lesson) -> dict[str, str]:
    """By step, what is to be looked at only if its checks fail."""
    return {
        finding.slot.name: DOUBTS[finding.kind].format(finding.slot.name)
        for finding in findings
        if finding.kind in DOUBTS and finding.slot.kind == SOLUTION
    }
