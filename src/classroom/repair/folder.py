"""What nbgrader takes from a student's folder, just before it takes it."""

import glob
import os
from pathlib import Path

from nbgrader.coursedir import CourseDirectory

from classroom.course import source_folder, source_notebooks
from classroom.repair.reading import Unreadable
from classroom.repair.released import read_released
from classroom.repair.work import find_work

LEFT_BY_SYSTEMS = ("._*", ".DS_Store", "Thumbs.db", "__MACOSX")


def name_notebooks(course: CourseDirectory, assignment: str, notebooks: list[str]) -> None:
    """Put into nbgrader's list of a student's notebooks the names they should have.

    `classroom.repair.exporter` finds the files. Where no work is found, it tells the reason.
    """
    folder = Path(notebooks[0]).parent
    names = source_notebooks(course, assignment)
    sources = source_folder(course, assignment)
    if len(names) > 1:
        names = [name for name in names if _has_work(folder, sources / name)] or names
    notebooks[:] = [str(folder / name) for name in names]


def not_to_be_copied(folder: Path) -> list[str]:
    """Patterns of the names in a folder that are no part of the work, for nbgrader to ignore.

    What macOS and Windows put beside files, such as a `._name.ipynb` that is no notebook; and links
    to other places, or to nothing: nbgrader would copy what is there.
    """
    home = os.path.realpath(folder)
    links = (path for path in folder.rglob("*") if path.is_symlink())
    elsewhere = (path for path in links if not (path.exists() and _leads_into(home, path)))
    return [*LEFT_BY_SYSTEMS, *sorted({glob.escape(path.name) for path in elsewhere})]


def _leads_into(home: str, path: Path) -> bool:
    return Path(os.path.realpath(path)).is_relative_to(home)


def _has_work(folder: Path, source: Path) -> bool:
    try:
        find_work(folder, read_released(source).lesson)
    except Unreadable:
        return False
    return True
