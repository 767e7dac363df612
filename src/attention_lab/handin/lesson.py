"""The released lesson, as far as grading relies on it: its skeleton."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

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


def released_lessons() -> list[Lesson]:
    """The lessons that this package was released with."""
    folder = Path(__file__).with_name("lessons")
    return [
        Lesson.from_json(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))
    ]
