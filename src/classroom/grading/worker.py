"""A worker: a process that judges, and the sandbox that it has to itself."""

from collections.abc import Callable, Iterable
from contextlib import closing, suppress
from itertools import groupby
from operator import attrgetter

from classroom.grading import outputs
from classroom.grading.confinement import Broken, Confinement
from classroom.grading.job import Cell, Job, Result
from classroom.grading.judge import CourseError, Judge
from classroom.grading.learner import Gone, Learner
from classroom.grading.limits import Limits
from classroom.grading.sandbox import pictures, wire


class Worker:
    """Runs jobs one after the other, each in a process of its own.

    confinement: a sandbox that has been started already. cores: those that others, which follow
    it, are to run on; by default all.
    """

    def __init__(
        self,
        isolation: str,
        limits: Limits,
        judge: Judge,
        confinement: Confinement | None = None,
        cores: Iterable[int] | None = None,
    ):
        self.isolation = isolation
        self.limits = limits
        self.judge = judge
        self.confinement = confinement
        self.cores = cores
        self._pictures = {}  # of solutions that have been run, as `Confinement.keep` takes them

    def grade(self, job: Job) -> Result:
        """Run `job`. Where its sandbox dies through no fault of the job's, run it once more in a
        new one. Raises Broken if that dies too, CourseError if the course's own cells fail."""
        with suppress(Broken):
            return self._grade_once(job)
        return self._grade_once(job)

    def close(self):
        if self.confinement is not None:
            self.confinement.close()
            self.confinement = None

    def _grade_once(self, job):
        try:
            return self._run(job)
        except Broken:  # a late answer would be taken for one to the next question
            self.close()
            raise

    def _run(self, job):
        run, changed = self._run_all(job, self.judge.in_order)
        if run.ended_out_of_order:
            run, also_changed = self._run_all(job, list)
            changed = tuple(dict.fromkeys((*changed, *also_changed)))
        return Result(run.ran, changed)

    def _run_all(self, job, order):
        if self.confinement is None:
            self.confinement = Confinement(self.isolation, self.limits, self.cores)
        self.judge.prepare(job)
        self.judge.begin(job.setup)
        self.confinement.wait_until_ready()
        if self.confinement.knows != (job.released, self.judge.questions):
            self.confinement.learn(job.released, self.judge.questions)
        self._keep_pictures(job.solved)
        run = Run(job, self.judge, order)
        try:
            run.all_cells(self.confinement)
        finally:
            changed = self._end()
        return run, changed

    def _keep_pictures(self, solved):
        """Have the sandbox know the pictures of a solution. It is run once, in a fresh sandbox."""
        if solved and solved not in self._pictures and not self.confinement.served:
            self._pictures[solved] = pictures.to_message({})
            self._pictures[solved] = self._drawn_by(solved)
            if self.confinement is None:
                raise Broken("the course's own solution ended or changed its sandbox")
        if solved in self._pictures and self.confinement.keeps != solved:
            self.confinement.keep(*self._pictures[solved])
            self.confinement.keeps = solved

    def _drawn_by(self, solved):
        try:
            with closing(Learner(self.confinement)) as learner:
                for source in solved:
                    learner.run(source)
                return learner.pictures()
        except Gone:
            return pictures.to_message({})
        finally:
            self._end()

    def _end(self):
        """Clear away what the submission left; return what it changed about its host."""
        try:
            changed = self.confinement.end_submission()
        except Broken:
            known = self.confinement.overstepped is not None
            self.close()
            return () if known else ("process (it no longer answered)",)
        if self.confinement.worn:
            self.close()
        return changed


class Run:
    """One job on its way.

    order: puts graded cells, with none of the submission's between them, in the order to run them.
    ran: the cells that have been run, by their index in the notebook. ended_out_of_order: whether
    the submission's process ended at a graded cell before one that stands above it was run.
    """

    def __init__(self, job: Job, judge: Judge, order: Callable[[Iterable[Cell]], list[Cell]]):
        self.job = job
        self.judge = judge
        self.ran = {}
        self.ended_out_of_order = False
        self._order = order
        self._judged_last = -1
        self._waiting = []
        self._wrong = []
        graded = [cell for cell in job.cells if cell.graded]
        self._counts = {cell: count for count, cell in enumerate(graded, start=1)}

    def all_cells(self, confinement: Confinement):
        """Run every cell; those that come after the end of the submission's process fail."""
        try:
            with closing(Learner(confinement)) as learner:
                for file in self.job.files:
                    learner.write(file)
                self._in_order(learner)
                self._with_steps(learner)
                self._with_lines(learner)
        except Gone as gone:
            missing = [cell.index for cell in self.job.cells if cell.index not in self.ran]
            self.ended_out_of_order = any(index < self._judged_last for index in missing)
            self._fail(missing[:1], f"{gone}.")
            self._fail(missing[1:], f"not run, because of an earlier cell: {gone}.")

    def _in_order(self, learner):
        for graded, cells in groupby(self.job.cells, attrgetter("graded")):
            if graded:
                self._judge(cells, learner)
                continue
            for cell in cells:
                self.ran[cell.index] = learner.run(cell.source)

    def _judge(self, cells, learner):
        for cell in self._order(cells):
            self._judged_last = cell.index
            trial = self.judge.run(cell.source, learner, count=self._counts[cell])
            if trial.wants_steps:
                self._waiting.append((cell, trial.observer))
            else:
                self._take(cell, trial)

    def _with_steps(self, learner):
        """Run again what may only be run when nothing else is left to judge."""
        for cell, observer in self._waiting:
            self._judged_last = cell.index
            observer.begin()
            trial = self.judge.run(cell.source, learner, observer, self._counts[cell])
            self._take(cell, trial)

    def _take(self, cell, trial):
        self.ran[cell.index] = trial.ran
        trial.close()
        if trial.is_mistake:
            self._wrong.append(cell)

    def _with_lines(self, learner):
        """Look for the lines that are wrong, now that all is judged: a fork is shown texts that may
        be right. What a cell shows is put in its place only if it is a mistake again."""
        for cell in self._wrong:
            definitions = self.judge.definitions(cell, self.job.cells)
            if definitions:
                observer, count = learner.observer(), self._counts[cell]
                trial = self.judge.run(cell.source, learner, observer, count, definitions)
                if trial.is_mistake:
                    self.ran[cell.index] = trial.ran
                trial.close()

    def _fail(self, indices, reason):
        self.ran.update((index, outputs.failed("Stopped", reason)) for index in indices)


def serve(channel: wire.Channel, worker: Worker):
    """Do what the head asks for over `channel`; raises Closed when it hangs up."""
    while True:
        channel.send(_answer(worker, *channel.receive()))


def _answer(worker, message, payload):
    try:
        return worker.grade(Job.from_message(message, payload)).to_message()
    except (Broken, CourseError) as error:
        return {"failed": str(error)}
