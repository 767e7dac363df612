"""nbgrader's collecting plugin, for downloads from Canvas and Moodle."""

import filecmp
import shutil
from datetime import UTC, datetime, timedelta
from functools import cached_property
from logging import LogRecord
from pathlib import Path

from nbgrader.api import Gradebook, MissingEntry
from nbgrader.plugins import FileNameCollectorPlugin
from nbgrader.utils import find_all_notebooks
from traitlets import Unicode

from classroom.collect.archive import free
from classroom.collect.choice import Choice, choose
from classroom.collect.names import Upload
from classroom.collect.whose import find_owners
from classroom.roster import Roster, read_roster
from classroom.times import zone

# nbgrader says this of each file, much of it as a warning; what is odd would be lost among it.
ROUTINE = (
    "Parsing file: ", "Copying from: ", "  Copying to: ", "Directory not found. Creating: ",
    "Skipped submission with no match information", "Invalid submission notebook name",
    "Clearing existing files in ", "Creating timestamp: ",
)  # fmt: skip


def _is_worth_saying(record: LogRecord) -> bool:
    return not record.getMessage().startswith(ROUTINE)


def _is_same(there: Path, choice: Choice, when: datetime | None) -> bool:
    """Whether what is about to be delivered lies there already, and nothing else."""
    files = {path.relative_to(there) for path in there.rglob("*") if not path.is_dir()}
    stamp = there / "timestamp.txt"
    said = stamp.read_text(encoding="utf-8", errors="replace") if stamp.is_file() else None
    if said != (when.isoformat(" ") if when else None):
        return False
    if files - {Path(stamp.name)} != set(map(Path, choice.delivered)):
        return False
    return all(
        filecmp.cmp(there / place, upload.path, shallow=False)
        for place, upload in choice.delivered.items()
    )


def _count(things, noun: str) -> str:
    return f"{len(things)} {noun}{'s' * (len(things) != 1)}"


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
        before, same = [], []
        for student, uploads in self._by_student().items():
            choice = choose(uploads, self._wanted)
            there = self._submitted(student)
            if there.is_dir() and any(there.iterdir()) and not self.parent.force:
                before.append(student)
                continue
            for remark in choice.remarks:
                self.log.warning("%s: %s", student, remark)
            when = self._timestamp(student, uploads)
            if there.is_dir() and any(there.iterdir()):
                if _is_same(there, choice, when):
                    same.append(student)
                    continue
                self._keep(student, there)
            for place, upload in choice.delivered.items():
                told[upload.path] = {
                    "student_id": student, "file_id": str(place), "timestamp": when
                }  # fmt: skip
        if same:
            self.log.info("Collected before, and the same as then: %s", _count(same, "student"))
        if before:
            self.log.warning("Collected before; --force collects again: %s", ", ".join(before))
        return told

    def _keep(self, student: str, there: Path) -> None:
        """Keep aside what lies in submitted/ and is about to be replaced."""
        aside = free(self._extracted.with_name("replaced") / student)
        shutil.copytree(there, aside, symlinks=True)
        self.log.warning(
            "%s: collected anew; what lay in submitted/ until now is kept in %s",
            student, aside.relative_to(self.parent.coursedir.root),
        )  # fmt: skip

    def _by_student(self) -> dict[str, list[Upload]]:
        owners, roster = find_owners(self._extracted, self._roster), self._roster
        for path in owners.nobodys:
            self.log.warning("The name of %s does not tell whose it is: not collected", path)
        for student, name in owners.strangers.items():
            self.log.warning("%s is not in the roster: collected as %s", name, student)
        for name, who in owners.others.items():
            self.log.warning(
                "%s: not collected, in the roster %s. If a Moodle group handed it in: unpack it, "
                "and put it into submitted/ for each of its members", name, who,
            )  # fmt: skip
        if owners.hidden:
            self.log.warning(
                "Canvas hides the names of %s: collected as %s. Their grades can go into Canvas "
                "once it shows the names and you have collected again",
                _count(owners.hidden, "student"), ", ".join(sorted(owners.hidden)),
            )  # fmt: skip
        people = {person.student for person in roster.people if not person.is_test_student}
        if missing := people - owners.by_student.keys():
            self.log.info("In the roster, and handed in nothing: %s", ", ".join(sorted(missing)))
        if any(person.timestamp for person in roster.people):
            self.log.info("Times in the roster that have no offset are those of %s", zone())
        return owners.by_student

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

    def _submitted(self, student: str) -> Path:
        course = self.parent.coursedir
        return Path(course.format_path(course.submitted_directory, student, course.assignment_id))

    # --- when it was handed in ---

    def _timestamp(self, student: str, uploads: list[Upload]) -> datetime | None:
        """When a student handed in, in UTC; None if nobody knows.

        The roster may say it. Names of files tell only that somebody was late, not by how much:
        then the least that is certain is taken, a second after the assignment was due. The times in
        an archive are those of the download.
        """
        person = self._roster.by_student.get(student)
        if person and person.timestamp:
            return person.timestamp
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

    @cached_property
    def _due(self) -> datetime | None:
        course = self.parent.coursedir
        with Gradebook(course.db_url, course.course_id) as gradebook:
            try:
                return gradebook.find_assignment(course.assignment_id).duedate
            except MissingEntry:
                return None
