"""One run of `nbgrader autograde`: its settings, its workers, its look ahead."""

import atexit
import gc
import os
import secrets
import sys
import weakref
from concurrent.futures import wait
from functools import cache
from pathlib import Path

import nbformat
from nbconvert.exporters import NotebookExporter
from nbformat import NotebookNode
from nbgrader.converters.base import NbGraderException
from nbgrader.exchange.default.exchange import Exchange
from nbgrader.utils import rmtree
from sqlalchemy.exc import SQLAlchemyError
from tqdm import tqdm
from traitlets import Enum, Float, Integer, Unicode, default
from traitlets.config import LoggingConfigurable

from classroom import gradebook
from classroom.course import (
    autograded_folder,
    feedback_folder,
    source_folder,
    submission_of,
    uses_attention_lab,
)
from classroom.files import printable
from classroom.grading import bubblewrap, trusted
from classroom.grading.ahead import Ahead
from classroom.grading.flags import flags
from classroom.grading.job import File, Result
from classroom.grading.limits import Limits
from classroom.grading.once import Snapshot
from classroom.grading.pool import Pool
from classroom.grading.record import Record, graded_inputs, inputs_of, is_unfinished
from classroom.people import DueDates, enter_names, roster_of

SECONDS_OF_SILENCE = 60
GRADED = ("submitted", "autograded", "feedback")
MANY = 8  # submissions for which it pays to run the course's own solution first
AS_ROOT = (
    "Grading as root: submissions run as root without its privileges. Use an ordinary account, for "
    "which the kernel keeps limits that it does not keep for root."
)
UNPROTECTED = (
    "Grading without a sandbox: whatever the submissions do, they do it as you. They can read and "
    "change your files, use the network, and see the course's answers."
)


class Grading(LoggingConfigurable):
    """Runs the notebooks of one command in sandboxes.

    Made by the exporter, which nbgrader makes before it touches anything. Raises NbGraderException
    when there is no sandbox.
    """

    isolation = Enum(
        ["bubblewrap", "none"],
        default_value="bubblewrap",
        help='"none" runs submissions unprotected, as you; the report says so.',
    ).tag(config=True)
    workers = Integer(help="Submissions run at the same time; by default one a core.").tag(
        config=True
    )
    scheduler = Unicode(
        help="tls:// address of a dask scheduler, whose workers then run the submissions."
    ).tag(config=True)
    seed = Integer(
        None,
        allow_none=True,
        help="Seed of the hidden trials, to replay a verdict; by default a new one each run.",
    ).tag(config=True)
    cell_seconds = Float(30.0, help="Time for one cell.").tag(config=True)
    submission_seconds = Float(600.0, help="Time for all cells of one submission.").tag(config=True)
    memory_mib = Integer(2048, help="Memory for one submission.").tag(config=True)
    processes = Integer(64, help="Processes of one submission.").tag(config=True)
    output_mib = Integer(2, help="Output of one cell; what is more is cut.").tag(config=True)

    @default("workers")
    def _one_a_core(self):
        return len(os.sched_getaffinity(0))

    def __init__(self, exporter: NotebookExporter, **kwargs):
        super().__init__(parent=exporter, **kwargs)
        self.exporter = exporter
        self.converter = exporter.parent
        self.course = self.converter.coursedir
        self._ignore = list(self.course.ignore)
        self._require_isolation()
        gradebook.share_engines()
        self.roster = self._read_roster()
        self._due = DueDates(self.course, self.roster)
        try:
            enter_names(self.course, self.roster)
            self._remove_outdated()
        except SQLAlchemyError as error:
            self._give_up(gradebook.in_words(error))
        self.seed = secrets.randbits(32) if self.seed is None else self.seed
        upcoming = list(self._upcoming())
        self._many = len(upcoming) >= MANY
        pool = self._cluster() if self.scheduler else self._pool(len(upcoming))
        weakref.finalize(exporter, pool.close)
        weakref.finalize(exporter, gradebook.close_connections)
        # Python would look for garbage at its end, a third of a second in all that nbgrader loads.
        atexit.register(gc.freeze)
        self._ahead = Ahead(upcoming, self._guess, pool.submit, how_many=2 * pool.size)
        self._progress = tqdm(total=len(upcoming), unit="submission", disable=None)
        self._course = cache(lambda *names: trusted.read_course(self.course, *names))
        self.snapshot = cache(lambda *names: Snapshot(self.course, *names))

    @property
    def limits(self) -> Limits:
        return Limits(
            cell=self.cell_seconds,
            submission=self.submission_seconds,
            memory=self.memory_mib << 20,
            processes=self.processes,
            output=self.output_mib << 20,
            hidden=tuple(self._hidden()),
        )

    def run(self, nb: NotebookNode, resources: dict) -> None:
        """Run a sanitised notebook: put outputs in its cells and the record in its metadata."""
        names = resources["nbgrader"]
        self._progress.set_postfix_str(printable(names["student"]))
        job = self._job(nb, names)
        key = self._key(names["assignment"], names["student"], names["notebook"])
        result = self._wait(self._ahead.take(key, job), names["student"])
        for index, ran in result.ran.items():
            nb.cells[index].execution_count = ran.count
            nb.cells[index].outputs = [nbformat.from_dict(output) for output in ran.outputs]
        self._record(nb, result, names).write(nb)
        self._progress.update()

    def files_beside(self, assignment: str, student: str) -> tuple[File, ...]:
        """The files that lie beside a submission's notebook, the course's own among them."""
        return trusted.files_beside(
            self._submitted({"assignment": assignment, "student": student}),
            source_folder(self.course, assignment),
            self._ignore,
            self.converter.exclude_overwriting.get(assignment, ()),
        )

    def _wait(self, future, student):
        """The result, once it is there; till then, say whom everybody waits for."""
        minutes = 0
        while not wait([future], timeout=SECONDS_OF_SILENCE).done:
            minutes += 1
            said = f"Waiting for {printable(student)}, for {minutes} min now"
            tqdm.write(said, file=sys.stderr)  # also where there is no line of progress to be seen
        return future.result()

    def _record(self, nb: NotebookNode, result: Result, names: dict) -> Record:
        mistakes = {
            nb.cells[index].metadata.nbgrader.grade_id: ran.misconception
            for index, ran in result.ran.items()
            if ran.misconception
        }
        due = self._due(names["assignment"], names["student"])
        inputs = inputs_of(self._submitted(names), due)
        found = [*flags(result.changed), *result.notes]
        return Record(True, self.isolation, self.seed, found, mistakes, inputs)

    def _pool(self, submissions):
        size = min(self.workers, submissions or 1)
        return Pool(size, self.isolation, self.limits, self.seed, wait=not submissions)

    def _cluster(self):
        try:
            from classroom.grading.cluster import Cluster, NoCluster
        except ModuleNotFoundError:
            self._give_up("To grade on many machines: pip install 'attention-lab[cluster]'")
        try:
            return Cluster(self.scheduler, self.isolation, self.limits, self.seed)
        except NoCluster as error:
            self._give_up(error)

    def _give_up(self, reason):
        self.log.error(reason)
        raise NbGraderException(str(reason)) from None

    def _require_isolation(self):
        if self.isolation == "none":
            self.log.warning(UNPROTECTED)
            return
        if self.scheduler:  # its workers look for themselves
            return
        if os.geteuid() == 0:
            self.log.warning(AS_ROOT)
        try:
            bubblewrap.require(self.limits.hidden)
        except bubblewrap.NoSandbox as error:
            self._give_up(error)

    def _read_roster(self):
        try:
            return roster_of(self.course, self.config)
        except ValueError as error:
            self._give_up(error)

    def _remove_outdated(self):
        """Have nbgrader grade again what an earlier run did not finish, and what was handed in, or
        is due, at another time since."""
        for submitted, folder in self._graded():
            if is_unfinished(folder):
                self.log.warning("Grading again what was cut off: %s", folder)
            elif self._is_outdated(submitted, folder):
                self.log.warning("Grading again what has changed: %s", submitted)
            else:
                continue
            rmtree(str(folder))
            feedback = feedback_folder(self.course, *submission_of(self.course, submitted))
            if feedback.is_dir():
                rmtree(str(feedback))
        self._due.forget()

    def _graded(self):
        """The folders of submissions of ours that have been graded, and those of their grades."""
        for submitted in self.converter.assignments:
            assignment, _ = submission_of(self.course, submitted)
            folder = self._autograded(submitted)
            if folder.is_dir() and uses_attention_lab(self.course, assignment):
                yield submitted, folder

    def _is_outdated(self, submitted, folder):
        known = graded_inputs(folder)
        due = self._due(*submission_of(self.course, submitted))
        return bool(known) and known != {inputs_of(Path(self.course.root, submitted), due)}

    def _hidden(self):
        """The course, and what nbgrader keeps of it elsewhere, the exchange above all."""
        exchange = Exchange(config=self.config)
        folders = (f"{kind}_directory" for kind in ("source", "release", *GRADED))
        places = [self.course.root, exchange.root, exchange.cache]
        places += [getattr(self.course, name).partition("{")[0] for name in folders]
        places.append(self.course.db_url.removeprefix("sqlite:///"))
        for place in filter(None, places):
            path = Path(self.course.root, place).resolve()
            if path.exists() and path != Path("/"):
                yield str(path)

    # --- looking ahead ---

    def _upcoming(self):
        """The keys of the notebooks that will probably be graded, in nbgrader's order."""
        excluded = self.course.student_id_exclude.split(",")
        for folder, notebooks in sorted(self.converter.assignments.items()):
            assignment, student = submission_of(self.course, folder)
            waiting = self.converter.force or not self._autograded(folder).exists()
            if waiting and student not in excluded:
                for path in sorted(notebooks):
                    yield self._key(assignment, student, Path(path).stem)

    def _guess(self, key):
        """The job of a notebook whose turn has not come, sanitised as nbgrader will do it."""
        assignment, student, notebook = Path(key).parts
        names = {
            "assignment": assignment,
            "student": student,
            "notebook": notebook,
            "db_url": self.course.db_url,
        }
        path = self._submitted(names) / f"{notebook}.ipynb"
        sanitised = self.exporter.sanitise(path, {"nbgrader": names})
        return self._job(sanitised.notebook, names)

    def _job(self, nb, names):
        files = self.files_beside(names["assignment"], names["student"])
        course = self._course(names["assignment"], names["notebook"])
        return trusted.make_job(nb, course, files, many=self._many)

    def _key(self, assignment, student, notebook):
        return str(Path(assignment, student, notebook))

    def _submitted(self, names):
        folder = self.course.submitted_directory
        return Path(self.course.format_path(folder, names["student"], names["assignment"]))

    def _autograded(self, submitted):
        return autograded_folder(self.course, *submission_of(self.course, submitted))
