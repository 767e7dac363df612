"""Builds all editions in memory, then writes them or compares them with what is there."""

import json
import tomllib
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from classroom.editions import badge, lint
from classroom.editions.colab import make_colab
from classroom.editions.executed import execute
from classroom.editions.lesson import Lesson, LessonError, read_lesson
from classroom.editions.notebook import from_json, to_json
from classroom.editions.package import PACKAGE, copy_package, package_files
from classroom.editions.release import make_release
from classroom.editions.source import make_source
from classroom.skeleton import lesson_of


def build(root: Path) -> dict[str, str]:
    """The editions of every lesson of the course at ``root``: their text by path below ``root``.

    With them come each lesson's skeleton, which belongs to the package, and the pages that link to
    a notebook, with links that are right.

    Raises:
        LessonError: something in a lesson or in an edition is wrong; nothing was written.
    """
    lessons, github = _lessons(root), _github(root)
    editions, skeletons, graded = {}, {}, []
    for lesson in lessons:
        source = _source(lesson)
        released = _released(lesson, source)
        graded.append((lesson, source, from_json(released)))
        editions[f"source/{lesson.assignment}/{lesson.name}.ipynb"] = to_json(source)
        editions[f"release/{lesson.assignment}/{lesson.name}.ipynb"] = released
        skeleton = lesson_of(json.loads(released), lesson.name)
        skeletons[f"handin/lessons/{lesson.name}.json"] = skeleton.to_json()
    package = package_files(_package(root))
    package |= {name: text.encode() for name, text in skeletons.items()}
    for lesson, source, release in graded:
        colab = make_colab(source, release, package=package, name=lesson.name, github=github)
        _refuse(lesson, "Colab edition", list(lint.lint_edition(colab)))
        editions[f"notebooks/{lesson.name}.ipynb"] = to_json(colab)
    editions |= {f"src/{PACKAGE}/{name}": text for name, text in skeletons.items()}
    return editions | _pages(root, [lesson.name for lesson in lessons], github)


def write(root: Path, editions: dict[str, str]) -> None:
    """Write the editions; a file that is right already is left alone."""
    for name, text in editions.items():
        path = root / name
        if _read(path) != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")


def write_executed(root: Path, editions: dict[str, str]) -> list[str]:
    """Run every lesson with its solutions and write ``docs/<name>.html``; returns their names."""
    names = []
    for lesson in _lessons(root):
        source = from_json(editions[f"source/{lesson.assignment}/{lesson.name}.ipynb"])
        names.append(f"docs/{lesson.name}.html")
        page = execute(source, _package(root))
        (root / names[-1]).write_text(page, encoding="utf-8", newline="\n")
    return names


def place_package(root: Path) -> None:
    """Put the package beside the notebooks of every assignment, in ``source`` and ``release``."""
    for assignment in {lesson.assignment for lesson in _lessons(root)}:
        for edition in ("source", "release"):
            copy_package(_package(root), root / edition / assignment)


def differences(root: Path, editions: dict[str, str]) -> list[str]:
    """How the notebooks at ``root`` differ from the editions, one sentence each, cell by cell."""
    findings = []
    for name, text in editions.items():
        there = _read(root / name)
        if there is None:
            findings.append(f"{name}: is missing")
        elif there != text and not name.endswith(".ipynb"):
            findings.append(f"{name}: differs")
        elif there != text:
            findings += [f"{name}: {finding}" for finding in _compare(there, text)]
    folders = {(root / name).parent for name in editions}
    there = {
        path.relative_to(root).as_posix() for folder in folders for path in folder.glob("*.ipynb")
    }
    findings += [f"{name}: is built from no lesson" for name in sorted(there - editions.keys())]
    return findings


def _source(lesson: Lesson) -> NotebookNode:
    source = make_source(lesson)
    _refuse(lesson, "lesson", [*lint.lint_edition(source), *lint.lint_source(source)])
    return source


def _released(lesson: Lesson, source: NotebookNode) -> str:
    released = make_release(to_json(source), assignment=lesson.assignment, name=lesson.name)
    release = from_json(released)
    findings = [*lint.lint_edition(release), *lint.lint_release(release, source)]
    _refuse(lesson, "release", findings)
    return released


def _pages(root: Path, names: list[str], github: str) -> dict[str, str]:
    """The pages that have a place for the ways to the notebooks, with the place filled."""
    pages = {}
    for path in [root / "README.md", *sorted((root / "docs").glob("*.md"))]:
        text, page = _read(path), path.relative_to(root).as_posix()
        if text is not None and badge.has_place(text):
            pages[page] = badge.fill(text, page, names, github)
    return pages


def _refuse(lesson: Lesson, edition: str, findings: list[str]) -> None:
    if findings:
        raise LessonError(f"{lesson.name} ({edition})", findings)


def _lessons(root: Path) -> list[Lesson]:
    lessons = [read_lesson(path) for path in sorted((root / "lessons").glob("*.py"))]
    if not lessons:
        raise LessonError(str(root), ["there is no lessons/*.py; run this at the course's root"])
    return lessons


def _package(root: Path) -> Path:
    return root / "src" / PACKAGE


def _github(root: Path) -> str:
    """``OWNER/REPO/REF`` where the course is published, or ``""``."""
    settings = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    return settings["tool"]["classroom"]["github"]


def _read(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.is_file() else None


def _compare(there: str, expected: str) -> list[str]:
    try:
        old = {cell.id: cell for cell in from_json(there).cells}
    except (nbformat.reader.NotJSONError, nbformat.ValidationError, AttributeError):
        return ["is no notebook"]
    new = {cell.id: cell for cell in from_json(expected).cells}
    findings = [f"cell {cell_id!r} is missing" for cell_id in new if cell_id not in old]
    findings += [f"cell {cell_id!r} is not in the lesson" for cell_id in old if cell_id not in new]
    findings += [
        f"cell {cell_id!r} differs"
        for cell_id in new
        if old.get(cell_id, new[cell_id]) != new[cell_id]
    ]
    return findings or ["differs in its metadata, the order of its cells, or the way it is written"]
