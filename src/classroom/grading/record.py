"""What is kept with a grade, in the autograded notebook's metadata under "grading".

finished        false from the sanitising pass on until the notebook has been run
isolation       "bubblewrap", or "none" where the submission ran unprotected
seed            of the numbers of the hidden trials: `--Grading.seed=SEED` replays the verdict
flags           what a human should look at, in words; nothing was deducted for it
inputs          stands for what was graded: the files, when they were handed in and when due
misconceptions  what the checks recognised, as slugs, by the grade id of the cell
"""

import json
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path

from nbformat import NotebookNode

from classroom.files import digest_of
from classroom.preprocessors import CoursePreprocessor

KEY = "grading"
LEFT_OUT = {"attention_lab", "__pycache__"}  # copies of the package never count


@dataclass(frozen=True)
class Record:
    """What a report may say about how a notebook was graded."""

    finished: bool
    isolation: str | None = None
    seed: int | None = None
    flags: list[str] = field(default_factory=list)
    misconceptions: dict[str, str] = field(default_factory=dict)
    inputs: str | None = field(default=None, compare=False)

    def write(self, nb: NotebookNode):
        nb.metadata[KEY] = asdict(self)

    @classmethod
    def read(cls, nb: NotebookNode) -> "Record | None":
        """The record of an autograded notebook; None if it was graded without this engine."""
        return cls(**nb.metadata[KEY]) if KEY in nb.metadata else None


class MarkUnfinished(CoursePreprocessor):
    """The last of the sanitising passes: what they write is no grade yet."""

    def preprocess(self, nb, resources):
        Record(finished=False).write(nb)
        return nb, resources


def inputs_of(submitted: Path, due: datetime | None) -> str:
    """Stands for all of a submission that its grade depends on."""
    return digest_of([submitted], (".*", *LEFT_OUT), str(due))


def graded_inputs(folder: Path) -> set[str]:
    """What stands for the submissions that an autograded folder was made of; one, or none if they
    were graded before that was kept."""
    found = (_metadata(path).get(KEY, {}).get("inputs") for path in folder.glob("*.ipynb"))
    return set(filter(None, found))


def is_unfinished(folder: Path) -> bool:
    """Whether the grading of an autograded folder was cut off before its end."""
    notebooks = list(folder.glob("*.ipynb"))
    return not notebooks or any(map(_is_unfinished, notebooks))


def _is_unfinished(path):
    try:
        metadata = _metadata(path)
    except (OSError, ValueError, KeyError):  # cut off while it was written
        return True
    return not metadata.get(KEY, {}).get("finished", True)


def _metadata(path):
    return json.loads(path.read_text(encoding="utf-8"))["metadata"]
