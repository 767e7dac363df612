"""The released lesson, as far as grading relies on it: its skeleton."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from attention_lab.handin import code
from attention_lab.handin.cells import text_of

SETUP, SOLUTION, TEST, WRITTEN = "setup", "solution", "test", "written"


@dataclass(frozen=True)
class Slot:
    """A cell of the released lesson that has to be in a notebook to be graded.

    name: its grade_id, or its cell id; also the name that a solution defines.
    kind: "setup" (imports), "solution" (code that defines `name`), "test" (locked code or text), or
    "written" (whatever else a learner writes).
    source: its text, as released.
    points: what it is worth.
    """

    name: str
    kind: str
    source: str
    points: float = 0


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
    """The lesson of a released notebook, given as nbformat 4 JSON."""
    slots = []
    for cell in released["cells"]:
        name, kind = name_of(cell), _kind(cell)
        if name is not None and kind is not None:
            points = cell["metadata"].get("nbgrader", {}).get("points", 0)
            slots.append(Slot(name, kind, text_of(cell), points))
    return Lesson(notebook, tuple(slots))


def name_of(cell: dict) -> str | None:
    """The name of the slot that a cell of a released notebook is for, if it is for one."""
    return cell["metadata"].get("nbgrader", {}).get("grade_id", cell.get("id"))


def released_lessons() -> list[Lesson]:
    """The lessons that this package was released with."""
    folder = Path(__file__).with_name("lessons")
    return [
        Lesson.from_json(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))
    ]


def _kind(cell: dict) -> str | None:
    nbgrader = cell["metadata"].get("nbgrader", {})
    if nbgrader.get("task") or nbgrader.get("solution"):
        by_name = not nbgrader.get("grade") and code.defines(text_of(cell), name_of(cell))
        return SOLUTION if by_name else WRITTEN
    if nbgrader.get("grade") or nbgrader.get("locked"):
        return TEST
    return SETUP if "setup" in cell["metadata"].get("tags", []) else None
