"""The released lesson, as far as grading relies on it: its skeleton."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from attention_lab.handin.cells import text_of

SETUP, SOLUTION, TEST, WRITTEN = "setup", "solution", "test", "written"


@dataclass(frozen=True)
class Slot:
    """A cell of the released lesson that has to be in a notebook to be graded.

    name: its cell id, which is also its grade_id and the name that a solution defines.
    kind: "setup" (imports), "solution" (code a learner writes), "test" (locked code or text), or
    "written" (read by a human).
    source: its text, as released.
    """

    name: str
    kind: str
    source: str


@dataclass(frozen=True)
class Lesson:
    """A released notebook. notebook: its file name without suffix. slots: in its order."""

    notebook: str
    slots: tuple[Slot, ...]

    def tests_of(self, solution: Slot) -> list[Slot]:
        """The graded cells that judge a solution: those between it and the next solution."""
        after = self.slots[self.slots.index(solution) + 1 :]
        tests = []
        for slot in after:
            if slot.kind in (SOLUTION, WRITTEN):
                break
            tests.append(slot)
        return [slot for slot in tests if slot.kind == TEST]

    def to_json(self) -> str:
        slots = [asdict(slot) for slot in self.slots]
        return json.dumps({"notebook": self.notebook, "slots": slots}, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str) -> "Lesson":
        content = json.loads(text)
        return cls(content["notebook"], tuple(Slot(**slot) for slot in content["slots"]))


def lesson_of(released: dict, notebook: str) -> Lesson:
    """The lesson of a released notebook, given as nbformat 4.5 JSON."""
    slots = []
    for cell in released["cells"]:
        kind = _kind(cell)
        if kind is not None:
            slots.append(Slot(cell["id"], kind, text_of(cell)))
    return Lesson(notebook, tuple(slots))


def released_lessons() -> list[Lesson]:
    """The lessons that this package was released with."""
    folder = Path(__file__).with_name("lessons")
    return [
        Lesson.from_json(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))
    ]


def _kind(cell: dict) -> str | None:
    nbgrader = cell["metadata"].get("nbgrader", {})
    if nbgrader.get("solution"):
        return WRITTEN if nbgrader.get("grade") else SOLUTION
    if nbgrader.get("task"):
        return WRITTEN
    if nbgrader.get("grade") or nbgrader.get("locked"):
        return TEST
    return SETUP if "setup" in cell["metadata"].get("tags", []) else None
