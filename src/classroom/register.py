"""What has to be true before a submission is graded, of the gradebook and of nbgrader's lists."""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from nbgrader.api import Gradebook, MissingEntry
from nbgrader.converters import GenerateAssignment
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config

from classroom import gradebook as gradebooks
from classroom.course import running_course, submission_of, uses_attention_lab
from classroom.repair.folder import name_notebooks, not_to_be_copied


def pre_convert_hook(config: Config) -> Callable[..., None]:
    """The hook for `Autograde.pre_convert_hook`; nbgrader calls it before each submission."""
    ignored = None

    def prepare(assignment: str, student: str, notebooks: list[str]) -> None:
        # `assignment` and `student` are the patterns of the command line, such as "*".
        nonlocal ignored
        course = running_course(config)
        ignored = list(course.ignore) if ignored is None else ignored
        course.ignore = ignored
        assignment, student = submission_of(course, notebooks[0])
        if uses_attention_lab(course, assignment):
            register(course, assignment, config)
            withdraw_grades(course, assignment, student)
            course.ignore = [*ignored, *not_to_be_copied(Path(notebooks[0]).parent)]
            name_notebooks(course, assignment, notebooks)

    return prepare


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
        GenerateAssignment(coursedir=copy, config=config).start()


def is_registered(gradebook: Gradebook, assignment: str) -> bool:
    """Whether the gradebook knows an assignment and at least one notebook of it."""
    try:
        return bool(gradebook.find_assignment(assignment).notebooks)
    except MissingEntry:
        return False


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
        for graded in submission.notebooks:
            for grade in graded.grades if notebook in (None, graded.name) else ():
                grade.auto_score = None
                grade.needs_manual_grade = True
        gradebook.db.commit()
