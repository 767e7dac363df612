"""Reading and repairing a submission in a child of its own, within bounds."""

import json
import os
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from nbgrader.coursedir import CourseDirectory
from traitlets import Integer
from traitlets.config import Configurable

from classroom import bounded
from classroom.bounded import Bounds
from classroom.repair.mend import mend, mended
from classroom.repair.reading import MOST, Most, Unreadable
from classroom.repair.released import read_released
from classroom.repair.work import find_work, notebooks_in

BOUNDS = Bounds()


class Reading(Configurable):
    """How much of a submission is read, and how much reading, cleaning or rendering it may take."""

    notebook_mib = Integer(MOST.size >> 20, help="Size of a notebook's file.").tag(config=True)
    cells = Integer(MOST.cells, help="Cells of a notebook.").tag(config=True)
    seconds = Integer(
        BOUNDS.seconds, help="Processor time for reading or rendering one submission."
    ).tag(config=True)
    memory_mib = Integer(
        BOUNDS.memory >> 20, help="Memory for reading or rendering one submission."
    ).tag(config=True)

    @property
    def most(self) -> Most:
        return Most(self.notebook_mib << 20, self.cells)

    @property
    def bounds(self) -> Bounds:
        return Bounds(self.seconds, self.memory_mib << 20)


def read_submission(course: CourseDirectory, folder: Path, source: Path) -> str:
    """The work on the course's notebook `source` in a student's folder, repaired, as JSON.

    Raises:
        Unreadable: there is none, or it cannot be read; the message says why.
    """
    reading = Reading(config=course.config)
    version = _version_of(folder), source.stat().st_mtime_ns
    text, reason = _read(folder, source, version, reading.most, reading.bounds)
    if text is None:
        raise Unreadable(reason)
    return text


@lru_cache(maxsize=64)  # grading looks ahead, and then at the same again
def _read(folder, source, _version, most, bounds):
    """The text of the repaired notebook and None, or None and the reason why there is none."""
    released = read_released(source)
    _warm_up(source)
    try:
        return bounded.run(_repaired, folder, released, most, bounds=bounds)
    except bounded.Failed as error:
        return None, f"the notebook {error}"


@lru_cache(maxsize=16)
def _warm_up(source):
    """Read the course's own notebook here, so that no child begins with everything still to be
    imported, compiled and read of the lesson: eight times as long as the reading itself."""
    released = read_released(source)
    with suppress(Unreadable):
        mend(find_work(source.parent, released.lesson, MOST), released)


def _repaired(folder, released, most):
    try:
        return json.dumps(mended(folder, released, most)), None
    except Unreadable as reason:
        return None, str(reason)


def _version_of(folder):
    """What changes where a notebook of the folder does."""
    return tuple(map(_status, [folder, *notebooks_in(folder)]))


def _status(path):
    status = os.lstat(path)
    return status.st_ino, status.st_size, status.st_mtime_ns
