"""What has to be true before a submission is graded, of the gradebook and of nbgrader's lists."""

from tempfile import TemporaryDirectory
from weakref import WeakKeyDictionary

from nbformat import NotebookNode
from nbgrader.api import Gradebook, MissingEntry, Notebook
from nbgrader.converters import Autograde, GenerateAssignment
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import SaveCells
from nbgrader.utils import is_grade, is_solution
from traitlets.config import Config

from classroom import gradebook as gradebooks
from classroom.course import (
    read_source,
    source_folder,
    source_notebooks,
)
from classroom.points import Names
from classroom.repair.folder import keep_worked_on

OUTDATED = (
    "{assignment}: source/ has changed since the gradebook took it over, in {cells}. "
    "Submissions are judged by what the gradebook has. To see what source/ would change, "
    "run: python -m classroom.regrade {assignment}"
)


_prepared: WeakKeyDictionary[Autograde, set[str]] = WeakKeyDictionary()


def prepare(converter: Autograde, assignment: str, student: str) -> None:
    """What an autograding command does before it takes a submission."""
    course = converter.coursedir
    gradebooks.keep_connections()
    prepared = _prepared.setdefault(converter, set())
    if assignment not in prepared:
        register(course, assignment, converter.config)
        prepared.add(assignment)
        if warning := outdated(course, assignment):
            converter.log.warning(warning)
    withdraw_grades(course, assignment, student)
    keep_worked_on(course, assignment, converter.notebooks)


def register(course: CourseDirectory, assignment: str, config: Config) -> None:
    """Enter an assignment into the gradebook from `source/`, unless it is there.

    This is `nbgrader generate_assignment` without its release, which stays as it is.
    """
    with gradebooks.held(course.db_url):
        gradebooks.create(course.db_url)
        with Gradebook(course.db_url, course.course_id) as gradebook:
            if is_registered(gradebook, assignment):
                return
            gradebooks.enter_course(gradebook, course.course_id)
        _generate(course, assignment, config)


def _generate(course: CourseDirectory, assignment: str, config: Config) -> None:
    with TemporaryDirectory() as scratch:
        copy = CourseDirectory(
            root=course.root,
            db_url=course.db_url,
            course_id=course.course_id,
            directory_structure=course.directory_structure,
            source_directory=course.source_directory,
            release_directory=scratch,
            assignment_id=assignment,
        )
        converter = GenerateAssignment(coursedir=copy, config=config)
        passes = converter.preprocessors
        if SaveCells in passes:  # those that follow only make the release
            converter.preprocessors = passes[: passes.index(SaveCells) + 1]
        converter.start()


def is_registered(gradebook: Gradebook, assignment: str) -> bool:
    """Whether the gradebook knows an assignment and at least one notebook of it."""
    try:
        return bool(gradebook.find_assignment(assignment).notebooks)
    except MissingEntry:
        return False


def outdated(course: CourseDirectory, assignment: str) -> str | None:
    """What to say if graded cells are not the same in `source/` and in the gradebook."""
    with Gradebook(course.db_url, course.course_id) as gradebook:
        notebooks = gradebook.find_assignment(assignment).notebooks
        there = {(notebook.name, *cell) for notebook in notebooks for cell in _cells_in(notebook)}
    folder = source_folder(course, assignment)
    paths = [folder / name for name in source_notebooks(course, assignment)]
    here = {
        (path.stem, *_as_registered(cell))
        for path in paths
        for cell in read_source(path).cells
        if is_grade(cell)
    }
    name = Names.of((notebook, cell) for notebook, cell, *_ in here | there)
    cells = sorted({name(notebook, cell) for notebook, cell, *_ in here ^ there})
    return OUTDATED.format(assignment=assignment, cells=", ".join(cells)) if cells else None


def _cells_in(notebook: Notebook) -> list[tuple[str, float, str]]:
    """The graded cells of a notebook: grade id, points, and the text unless it is an answer."""
    texts = {cell.name: cell.source for cell in notebook.source_cells}
    answers = {cell.name for cell in notebook.solution_cells}
    return [
        (cell.name, cell.max_score, "" if cell.name in answers else texts[cell.name])
        for cell in notebook.grade_cells
    ]


def _as_registered(cell: NotebookNode) -> tuple[str, float, str]:
    own = cell.metadata.nbgrader
    return own.grade_id, float(own.points), "" if is_solution(cell) else cell.source


def withdraw_grades(
    course: CourseDirectory, assignment: str, student: str, notebook: str | None = None
) -> None:
    """Take back the automatic points of an earlier run and leave every cell to a human.

    What is graded now gets its points again. What cannot be graded (a cell that is missing, a
    notebook that cannot be read) then keeps neither old points nor a silent zero.
    notebook: the name of the only notebook to withdraw; by default all.
    """
    with Gradebook(course.db_url, course.course_id) as gradebook:
        try:
            submission = gradebook.find_submission(assignment, student)
        except MissingEntry:
            return
        submission.timestamp = None  # unless the files that are there now have one
        for graded in submission.notebooks:
            for grade in graded.grades if notebook in (None, graded.name) else ():
                grade.auto_score = None
                grade.needs_manual_grade = True
        gradebook.db.commit()
