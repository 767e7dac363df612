"""The exercises of the released lessons: their stubs, and what their checks are worth."""

from dataclasses import dataclass

from attention_lab.handin.lesson import SOLUTION, released_lessons


@dataclass(frozen=True)
class Exercise:
    """An exercise as it was released.

    name: what the answer defines. stub: the text of its cell. points: by aspect ("shape",
    "value"), none for an exercise that is worth nothing.
    """

    name: str
    stub: str
    points: dict[str, float]


def read_exercises() -> dict[str, Exercise]:
    """Every exercise by its name, in the order of the lessons."""
    return {
        slot.name: Exercise(slot.name, slot.source, _points(slot.name, lesson.tests_of(slot)))
        for lesson in released_lessons()
        for slot in lesson.slots
        if slot.kind == SOLUTION
    }


def _points(name, tests):
    return {test.name.removeprefix(f"test_{name}_"): test.points for test in tests}
