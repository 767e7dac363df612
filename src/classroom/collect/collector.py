"""nbgrader's collecting plugin, for downloads from Canvas and Moodle."""

from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cached_property
from logging import LogRecord
from pathlib import Path

from dateutil import parser
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.plugins import FileNameCollectorPlugin
from nbgrader.utils import find_all_notebooks
from traitlets import Unicode

from classroom.collect.choice import choose
from classroom.collect.names import Upload, read_upload
from classroom.roster import Person, Roster, read_roster

# nbgrader says this of each file, much of it as a warning; what is odd would be lost among it.
ROUTINE = (
    "Parsing file: ", "Copying from: ", "  Copying to: ", "Directory not found. Creating: ",
    "Skipped submission with no match information", "Invalid submission notebook name",
)  # fmt: skip


def _is_worth_saying(record: LogRecord) -> bool:
    return not record.getMessage().startswith(ROUTINE)


class LmsCollector(FileNameCollectorPlugin):
    """Tells nbgrader whose a downloaded file is, what it is for, and when it was handed in.

    nbgrader asks file by file and gives up on the class over a second file for one place. So all
    of them are looked at first, and for each place one is named. A course that sets `named_regexp`
    gets nbgrader's own plugin.
    """

    roster = Unicode(
        "roster.csv", help="Who is who, below the course's folder; see classroom.roster."
    ).tag(config=True)

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        if not self.named_regexp:
            self.log.addFilter(_is_worth_saying)

    def collect(self, submitted_file: str) -> dict | None:
        if self.named_regexp:
            return super().collect(submitted_file)
        return self._deliveries.get(Path(submitted_file))

    @cached_property
    def _deliveries(self) -> dict[Path, dict]:
        """What nbgrader is to be told of each file that is delivered."""
        told = {}
        for student, uploads in self._by_student().items():
            if self._has_submission(student):
                self.log.warning("%s: collected before; --force collects again", student)
                continue
            choice = choose(uploads, self._wanted)
            for remark in choice.remarks:
                self.log.warning("%s: %s", student, remark)
            when = self._timestamp(student, uploads)
            for place, upload in choice.delivered.items():
                told[upload.path] = {
                    "student_id": student, "file_id": str(place), "timestamp": when
                }  # fmt: skip
        return told

    def _by_student(self) -> dict[str, list[Upload]]:
        found, strangers = defaultdict(list), {}
        for upload in self._uploads():
            person = self._roster.find(upload.lms, upload.name)
            student = person.student if person else self._stranger(upload)
            if not person and self._roster.people:
                strangers[student] = upload.name
            found[student].append(upload)
        for student, name in strangers.items():
            self.log.warning("%s is not in the roster: collected as %s", name, student)
        if missing := self._roster.by_student.keys() - found.keys():
            self.log.info("In the roster, and handed in nothing: %s", ", ".join(sorted(missing)))
        return found

    def _stranger(self, upload: Upload) -> str:
        """A name for somebody who is not in the roster, and that nobody has who is."""
        return f"lms-{upload.lms}" if upload.lms in self._roster.by_student else upload.lms

    def _uploads(self) -> Iterator[Upload]:
        for path in sorted(path for path in self._extracted.rglob("*") if path.is_file()):
            if upload := read_upload(path, self._extracted):
                yield upload
            else:
                self.log.warning("The name of %s does not tell whose it is: not collected", path)

    # --- the course ---

    @cached_property
    def _extracted(self) -> Path:
        app = self.parent
        folder = app.collect_directory_structure.format(
            downloaded=app.downloaded_directory,
            assignment_id=app.coursedir.assignment_id,
            collect_step=app.extracted_directory,
        )
        return Path(app.coursedir.root, folder)

    @cached_property
    def _wanted(self) -> list[str]:
        course = self.parent.coursedir
        return find_all_notebooks(
            course.format_path(course.release_directory, ".", course.assignment_id)
        )

    @cached_property
    def _roster(self) -> Roster:
        path = Path(self.parent.coursedir.root, self.roster)
        if not path.exists():
            self.log.warning("There is no %s: students are called by the LMS's numbers", path)
            return Roster()
        try:
            roster = read_roster(path)
        except ValueError as error:
            self.parent.fail(str(error))
        for complaint in roster.complaints:
            self.log.warning(complaint)
        return roster

    def _has_submission(self, student: str) -> bool:
        course = self.parent.coursedir
        folder = course.format_path(course.submitted_directory, student, course.assignment_id)
        return not self.parent.force and Path(folder).is_dir() and any(Path(folder).iterdir())

    # --- when it was handed in ---

    def _timestamp(self, student: str, uploads: list[Upload]) -> datetime | None:
        """When a student handed in, in UTC; None if nobody knows.

        The roster may say it. Names of files tell only that somebody was late, not by how much:
        then the least that is certain is taken, a second after the assignment was due. The times in
        an archive are those of the download.
        """
        person = self._roster.by_student.get(student)
        if person and (when := self._said_by(person)):
            return when
        if not max(uploads, key=lambda upload: upload.age).late:
            return None
        due = self._due
        if due is None:
            self.log.warning("%s: marked late, and the gradebook has no due date", student)
            return None
        self.log.warning(
            "%s: marked late, by an unknown time; taken as a second. The roster may tell the time, "
            "in a column timestamp", student,
        )  # fmt: skip
        return due.replace(tzinfo=UTC) + timedelta(seconds=1)

    def _said_by(self, person: Person) -> datetime | None:
        """The roster's time; without an offset, it is one of this computer's time zone."""
        if person.timestamp in ("", "-"):
            return None
        try:
            return parser.parse(person.timestamp).astimezone(UTC)
        except (ValueError, OverflowError):
            self.log.warning(
                "%s: %r is no time; write 2026-11-29 20:15 or 2026-11-29T20:15+01:00",
                person.student, person.timestamp,
            )  # fmt: skip
            return None

    @cached_property
    def _due(self) -> datetime | None:
        course = self.parent.coursedir
        with Gradebook(course.db_url, course.course_id) as gradebook:
            try:
                return gradebook.find_assignment(course.assignment_id).duedate
            except MissingEntry:
                return None
