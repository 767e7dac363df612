"""Which of the files that a student handed in holds the work."""

from dataclasses import dataclass, replace
from pathlib import Path

from nbformat import NotebookNode

from attention_lab.handin import code
from attention_lab.handin.inspect import Inspection, inspect
from attention_lab.handin.lesson import SETUP, Lesson
from classroom.course import PACKAGE
from classroom.files import files_in, printable
from classroom.repair.reading import MOST, Most, Unreadable, read

GUESSED_ENCODING = "{} is in no encoding that could be told: look at letters with accents"
OTHERS = "graded {}, the most complete and then the newest; {} holds other answers"
INSTEAD = "graded {}, since {}"
DEEPER = "graded {}, which lies a folder too deep"
NO_PLACE = (".*", "__MACOSX", "__pycache__", PACKAGE)  # where no work is looked for


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


def find_work(folder: Path, lesson: Lesson, most: Most = MOST) -> Work:
    """The work on a lesson in a student's folder: the file with the most answers, the newest of
    several.

    Raises:
        Unreadable: no file holds any; the message names the files and their reasons.
    """
    paths, flags = notebooks_in(folder), ()
    if not paths:
        paths = notebooks_below(folder)
        flags = tuple(DEEPER.format(_name(path, folder)) for path in paths[:1])
    found, unreadable = [], []
    for path in paths:
        try:
            found.append(_look_at(path, lesson, most))
        except Unreadable as reason:
            unreadable.append(reason)
    works = [work for work in found if work.is_of(lesson)]
    if works:
        chosen = _chosen(works, f"{lesson.notebook}.ipynb", unreadable)
        return replace(chosen, flags=(*flags, *chosen.flags))
    others = (_name(work.path, work.path.parent) for work in found)
    reasons = [*unreadable, *(f"{other} holds no cell of the lesson" for other in others)]
    raise Unreadable("; ".join(map(str, reasons)) or "there is no notebook in the folder")


def notebooks_in(folder: Path) -> list[Path]:
    """The notebooks of a folder, as far as their names tell, in any letters."""
    return sorted(path for path in folder.glob("[!.]*.*") if is_notebook(path))


def notebooks_below(folder: Path) -> list[Path]:
    """The notebooks in the folders of a folder."""
    return [path for path in files_in(folder, NO_PLACE).files if is_notebook(path)]


def is_notebook(path: Path) -> bool:
    return path.suffix.lower() == ".ipynb"


def _name(path: Path, folder: Path) -> str:
    return printable(str(path.relative_to(folder)))


def _look_at(path: Path, lesson: Lesson, most: Most) -> Work:
    notebook, guessed = read(path, most)
    flags = (GUESSED_ENCODING.format(printable(path.name)),) if guessed else ()
    return Work(path, notebook, inspect(notebook, lesson), flags)


def _chosen(works: list[Work], name: str, unreadable: list[Unreadable]) -> Work:
    best = max(works, key=lambda work: (len(work.answers), work.path.stat().st_mtime_ns))
    for work in works:
        if work.path.name == name and not _adds(best, work) and not _adds(work, best):
            best = work
    name, others = (
        printable(best.path.name),
        [printable(work.path.name) for work in works if _adds(work, best)],
    )
    flags = list(best.flags)
    if others:
        flags.append(OTHERS.format(name, " and ".join(others)))
    flags += [INSTEAD.format(name, reason) for reason in unreadable]
    return replace(best, flags=tuple(flags))


def _adds(work: Work, to: Work) -> bool:
    """Whether a file has an answer that the other has not."""
    return any(not code.same(text, to.answers.get(name, "")) for name, text in work.answers.items())
