"""What a gradebook says of an assignment's cells, and how it takes over what another says.

nbgrader refuses to add or remove a cell once there are submissions, and `generate_assignment
--force` then leaves `release/` empty.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from nbgrader.api import (
    BaseCell,
    Comment,
    Grade,
    Gradebook,
    GradeCell,
    Notebook,
    SolutionCell,
    SourceCell,
    TaskCell,
)
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config

from classroom.course import source_notebooks, with_settings
from classroom.register import register

KINDS = (GradeCell, SolutionCell, TaskCell)
WITH_POINTS = (GradeCell, TaskCell)
WITH_COMMENT = (SolutionCell, TaskCell)


@dataclass(frozen=True)
class Cell:
    """A cell that nbgrader knows. kinds: what it is to nbgrader; none for a read-only text."""

    kinds: frozenset[type]
    points: float | None
    cell_type: str
    locked: bool
    source: str
    checksum: str | None


Definition = Mapping[str, Mapping[str, Cell]]  # by notebook and grade id


class OtherNotebooks(ValueError):
    """The notebooks of two definitions differ; the message says what to do."""


def definition_in_source(course: CourseDirectory, assignment: str, config: Config) -> Definition:
    """What `source/` says.

    Raises:
        FileNotFoundError: there is no such assignment in `source/`.
        NbGraderException: nbgrader cannot make an assignment of it.
    """
    if not source_notebooks(course, assignment):
        raise FileNotFoundError(
            f"there is no notebook of {assignment} in {course.root}/{course.source_directory}/"
        )
    with TemporaryDirectory() as scratch:
        url = f"sqlite:///{Path(scratch, 'gradebook.db')}"
        register(with_settings(course, db_url=url), assignment, config)
        with Gradebook(url, course.course_id) as gradebook:
            return read_definition(gradebook, assignment)


def read_definition(gradebook: Gradebook, assignment: str) -> Definition:
    """What a gradebook says. Raises MissingEntry if it does not know the assignment."""
    notebooks = gradebook.find_assignment(assignment).notebooks
    return {notebook.name: _cells(notebook) for notebook in notebooks}


def _cells(notebook: Notebook) -> dict[str, Cell]:
    kinds, points = {}, {}
    for cell in _base_cells(notebook):
        kinds.setdefault(cell.name, set()).add(type(cell))
        if isinstance(cell, WITH_POINTS):
            points[cell.name] = cell.max_score
    return {
        cell.name: Cell(
            frozenset(kinds.get(cell.name, ())),
            points.get(cell.name),
            cell.cell_type,
            cell.locked,
            cell.source,
            cell.checksum,
        )
        for cell in notebook.source_cells
    }


def renamed_cells(
    old: Definition, new: Definition, asked: Mapping[str, str]
) -> dict[str, dict[str, str]]:
    """The cells that are the same under another grade id, by notebook: the new id by the old.

    Those that were asked for, and those whose text has moved from one id to another.

    Raises:
        OtherNotebooks: a notebook was added or removed.
        ValueError: what was asked for is not so.
    """
    if old.keys() != new.keys():
        raise OtherNotebooks(
            f"the gradebook has grades for {_listed(old)}, and source/ has {_listed(new)}: name "
            "the notebooks in source/ as they were, and give what is new to another assignment"
        )
    found = {name: _moved(old[name], new[name]) for name in new}
    for before, after in asked.items():
        home = [name for name in new if before in old[name] and after in new[name]]
        if not home or before in new[home[0]] or after in old[home[0]]:
            raise ValueError(
                f"{before} is not renamed to {after}: the first has to be a grade id of the "
                "gradebook that is gone from source/, the second one that is new there"
            )
        others = found[home[0]].items()
        found[home[0]] = {a: b for a, b in others if a != before and b != after} | {before: after}
    return found


def _moved(old: Mapping[str, Cell], new: Mapping[str, Cell]) -> dict[str, str]:
    gone = _by_text(old, old.keys() - new.keys())
    come = _by_text(new, new.keys() - old.keys())
    return {gone[text]: come[text] for text in gone.keys() & come.keys()}


def _by_text(cells: Mapping[str, Cell], names: Iterable[str]) -> dict[tuple, str]:
    """The cells whose text no other of them has."""
    texts = {name: (cells[name].kinds, cells[name].source) for name in names}
    often = Counter(texts.values())
    return {text: name for name, text in texts.items() if often[text] == 1}


def follow(
    gradebook: Gradebook,
    assignment: str,
    definition: Definition,
    renamed: Mapping[str, Mapping[str, str]],
) -> None:
    """Have a gradebook say of an assignment what `definition` says; the caller commits.

    Every submission keeps the grades and comments of the cells that stay, under their new names,
    and gets empty ones for the cells that come. Those of the cells that go are deleted.
    """
    for notebook in gradebook.find_assignment(assignment).notebooks:
        wanted = definition[notebook.name]
        for cell in [*_base_cells(notebook), *notebook.source_cells]:
            cell.name = renamed[notebook.name].get(cell.name, cell.name)
        for kind in KINDS:
            of_kind = {name: cell for name, cell in wanted.items() if kind in cell.kinds}
            _follow_kind(gradebook, notebook, kind, of_kind)
        _follow_sources(gradebook, notebook, wanted)


def _follow_kind(gradebook, notebook, kind, wanted):
    present = {cell.name: cell for cell in _base_cells(notebook) if isinstance(cell, kind)}
    for name in present.keys() - wanted.keys():
        for model in (Grade, Comment):
            gradebook.db.query(model).filter_by(cell_id=present[name].id).delete()
        gradebook.db.delete(present[name])
    for name, cell in wanted.items():
        if name not in present:
            present[name] = _add(gradebook, notebook, kind, name, cell)
        elif kind in WITH_POINTS:
            present[name].max_score, present[name].cell_type = cell.points, cell.cell_type


def _add(gradebook, notebook, kind, name, cell):
    values = {"max_score": cell.points, "cell_type": cell.cell_type} if kind in WITH_POINTS else {}
    added = kind(name=name, notebook_id=notebook.id, **values)
    gradebook.db.add(added)
    gradebook.db.flush()
    models = [Grade] * (kind in WITH_POINTS) + [Comment] * (kind in WITH_COMMENT)
    gradebook.db.add_all(
        model(cell_id=added.id, notebook_id=submission.id)
        for model in models
        for submission in notebook.submissions
    )
    return added


def _follow_sources(gradebook, notebook, wanted):
    present = {cell.name: cell for cell in notebook.source_cells}
    for name in present.keys() - wanted.keys():
        gradebook.db.delete(present[name])
    for name, cell in wanted.items():
        source = present.get(name)
        if source is None:
            source = SourceCell(name=name, notebook_id=notebook.id)
            gradebook.db.add(source)
        source.cell_type, source.locked = cell.cell_type, cell.locked
        source.source, source.checksum = cell.source, cell.checksum


def _base_cells(notebook: Notebook) -> list[BaseCell]:
    return [*notebook.grade_cells, *notebook.solution_cells, *notebook.task_cells]


def _listed(definition: Definition) -> str:
    return ", ".join(sorted(definition)) or "none"
