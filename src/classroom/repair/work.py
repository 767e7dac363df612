"""Which of the files that a student handed in holds the work."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from nbformat import NotebookNode

from attention_lab.handin import Inspection, Lesson, code, inspect
from attention_lab.handin.lesson import SETUP
from classroom.repair.reading import Unreadable, read

GUESSED_ENCODING = "{} is in no encoding that could be told: look at letters with accents"
OTHERS = "graded {}, the most complete and then the newest; {} holds other answers"
INSTEAD = "graded {}, since {}"


@dataclass(frozen=True)
class Work:
    """A file with cells of the lesson. flags: what a human should know of how it was chosen."""

    path: Path
    notebook: NotebookNode
    inspection: Inspection
    flags: tuple[str, ...] = ()

    @property
    def answers(self) -> dict[str, str]:
        """The text that answers each answered step."""
        found = self.inspection.found
        return {name: found[name].source for name in self.inspection.answered}

    def is_of(self, lesson: Lesson) -> bool:
        """Whether it holds a cell that is the lesson's alone: imports are in many notebooks."""
        own = {slot.name for slot in lesson.slots if slot.kind != SETUP}
        return not own.isdisjoint(self.inspection.found)


def find_work(folder: Path, lesson: Lesson) -> Work:
    """The work on a lesson in a student's folder: the file with the most answers, the newest of
    several.

    It may be the same object as before, so nobody may change it.

    Raises:
        Unreadable: no file holds any; the message names the files and their reasons.
    """
    paths = tuple(sorted(folder.glob("[!.]*.ipynb")))
    return _find_work(paths, tuple(map(_version, paths)), lesson)


def _version(path: Path) -> tuple[int, ...]:
    status = path.lstat()
    return status.st_ino, status.st_size, status.st_mtime_ns


@lru_cache(maxsize=32)  # grading looks ahead, and then at the same again
def _find_work(paths: tuple[Path, ...], _versions, lesson: Lesson) -> Work:
    found, unreadable = [], []
    for path in paths:
        try:
            found.append(_look_at(path, lesson))
        except Unreadable as reason:
            unreadable.append(reason)
    works = [work for work in found if work.is_of(lesson)]
    if works:
        return _chosen(works, f"{lesson.notebook}.ipynb", unreadable)
    reasons = [*unreadable, *(f"{work.path.name} holds no cell of the lesson" for work in found)]
    raise Unreadable("; ".join(map(str, reasons)) or "there is no notebook in the folder")


def _look_at(path: Path, lesson: Lesson) -> Work:
    notebook, guessed = read(path)
    flags = (GUESSED_ENCODING.format(path.name),) if guessed else ()
    return Work(path, notebook, inspect(notebook, lesson), flags)


def _chosen(works: list[Work], name: str, unreadable: list[Unreadable]) -> Work:
    best = max(works, key=lambda work: (len(work.answers), work.path.stat().st_mtime_ns))
    for work in works:
        if work.path.name == name and not _adds(best, work) and not _adds(work, best):
            best = work
    others = [work.path.name for work in works if _adds(work, best)]
    flags = list(best.flags)
    if others:
        flags.append(OTHERS.format(best.path.name, " and ".join(others)))
    flags += [INSTEAD.format(best.path.name, reason) for reason in unreadable]
    return Work(best.path, best.notebook, best.inspection, tuple(flags))


def _adds(work: Work, to: Work) -> bool:
    """Whether a file has an answer that the other has not."""
    return any(not code.same(text, to.answers.get(name, "")) for name, text in work.answers.items())
