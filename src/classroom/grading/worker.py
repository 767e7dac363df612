"""A worker: a process that judges, and the sandbox that it has to itself."""

from collections.abc import Iterable
from contextlib import closing
from itertools import groupby
from operator import attrgetter

from classroom.grading import outputs
from classroom.grading.confinement import Broken, Confinement
from classroom.grading.job import Job, Result
from classroom.grading.judge import CourseError, Judge
from classroom.grading.learner import Gone, Learner
from classroom.grading.limits import Limits
from classroom.grading.patience import Patience
from classroom.grading.sandbox import pictures, wire

MAX_RUNS = 6  # of one submission
MAX_LISTED = 5
DEFINITIONS, NOTHING = "only the definitions", "nothing"


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
        """Run `job`; where its process ends before it is through, once more and again in a fresh
        sandbox, as `Run` says. Raises Broken if a sandbox dies twice by itself, CourseError if the
        course's own cells fail."""
        run, changed = Run(job, self.judge, Patience(self.limits)), ()
        for _ in range(MAX_RUNS):
            try:
                changed += self._run_once(run)
            except Broken as error:  # a late answer would be taken for one to the next question
                self.close()
                run.lose_its_sandbox(error)
            if run.is_through:
                break
            self.close()  # so nothing that one run has left is there for the next
        run.come_to_an_end()
        return Result(run.ran, tuple(dict.fromkeys(changed)), tuple(dict.fromkeys(run.notes)))

    def close(self):
        if self.confinement is not None:
            self.confinement.close()
            self.confinement = None

    def _run_once(self, run):
        run.begin()
        if self.confinement is None:
            self.confinement = Confinement(self.isolation, self.limits, self.cores)
        job = run.job
        self.judge.prepare(job)
        self.judge.begin(job.setup)
        self.confinement.wait_until_ready()
        if self.confinement.knows != (job.released, self.judge.questions):
            self.confinement.learn(job.released, self.judge.questions)
        self._keep_pictures(job.solved)
        try:
            run.all_cells(self.confinement)
        finally:
            changed = self._end()
        return changed

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
            with closing(Learner(self.confinement, Patience(self.limits))) as learner:
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
    """One job on its way, which may take several runs of its notebook.

    When the submission's process ends, the next run does without the cell at which that happened,
    but for what the cell defines, or without all of it if that was tried. What may not have been
    the submission's doing is run once more as it is. After right steps have been shown there is no
    other run.

    ran: the cells that have been run, by their index in the notebook. notes: what a human should
    know. is_through: whether no other run is wanted.
    """

    def __init__(self, job: Job, judge: Judge, patience: Patience):
        self.job = job
        self.judge = judge
        self.patience = patience
        self.ran = {}
        self.notes = []
        self.is_through = False
        self._at = None  # the cell that is being run
        self._left_out = {}  # cells, by what is still run of them
        self._ended = set()  # graded cells at which the process ended
        self._has_shown_steps = False
        self._was_disturbed = False
        self._waiting = []
        self._wrong = []
        graded = [cell for cell in job.cells if cell.graded]
        self._counts = {cell: count for count, cell in enumerate(graded, start=1)}

    def begin(self):
        """Forget what belongs to an earlier run."""
        self._at, self._waiting = None, []

    def all_cells(self, confinement: Confinement):
        """Run every cell that is still to be run, and those that the others need."""
        try:
            with closing(Learner(confinement, self.patience)) as learner:
                for file in self.job.files:
                    learner.write(file)
                self._in_order(learner)
                self._with_steps(learner)
                self._with_lines(learner)
            self.is_through = True
        except Gone as gone:
            self._go_on_without(gone)

    def lose_its_sandbox(self, error: Broken):
        """Be told that the sandbox has died by itself. Raises `error` where that has happened twice
        before anything was run."""
        if self._at is not None:
            self._go_on_without(Gone(str(error), from_outside=True))
        elif self._was_disturbed:
            raise error
        else:
            self._was_disturbed = True

    def come_to_an_end(self):
        """Have the cells fail that were not run."""
        for cell in self.job.cells:
            if cell.index not in self.ran:
                self._fail(cell, "not run, because of an earlier cell.")
        if self.patience.is_short:
            self.notes.append("several cells or answers took too long and were stopped")

    def _in_order(self, learner):
        for graded, cells in groupby(self.job.cells, attrgetter("graded")):
            if graded:
                self._judge(cells, learner)
                continue
            for cell in cells:
                self._run(cell, learner)

    def _run(self, cell, learner):
        self._at = cell
        if cell not in self._left_out:
            ran = learner.run(cell.source)
            self.ran[cell.index] = self._with_what_it_defines(ran, cell, learner)
        elif self._left_out[cell] is DEFINITIONS:
            learner.define(cell.source)

    def _with_what_it_defines(self, ran, cell, learner):
        """`ran`, where the cell has failed with a remark on what was defined all the same."""
        if cell.given or not (learner.defined or learner.missing):
            return ran
        later = (c for c in self.job.cells if c.index > cell.index and (c.graded or not c.given))
        used = set().union(*(self.judge.takes(c.source) for c in later))
        if missing := sorted(used.intersection(learner.missing).difference(learner.defined)):
            would = f"an earlier cell failed here and would have defined {_list(missing)}"
            self.notes.append(would)
        if defined := sorted(used.intersection(learner.defined)):
            self.notes.append(f"a cell failed here; what it defines was run: {_list(defined)}")
            remark = f"Below this error, what defines something was run: {_list(defined)}."
            return outputs.with_remark(ran, remark)
        return ran

    def _judge(self, cells, learner):
        for cell in self.judge.in_order(cells):
            known = cell.index in self.ran and not self.judge.defines_names(cell.source)
            if known or cell in self._ended:
                continue
            self._at = cell
            trial = self.judge.run(cell.source, learner, count=self._counts[cell])
            if trial.wants_steps:
                self._waiting.append((cell, trial.observer))
            else:
                self._take(cell, trial)
            learner.raise_if_gone()

    def _with_steps(self, learner):
        """Run again what may only be run when nothing else is left to judge."""
        for cell, observer in self._waiting:
            self._at, self._has_shown_steps = cell, True
            observer.begin()
            trial = self.judge.run(cell.source, learner, observer, self._counts[cell])
            self._take(cell, trial)
            learner.raise_if_gone()

    def _take(self, cell, trial):
        self.ran[cell.index] = trial.ran
        trial.close()
        if trial.is_mistake:
            self._wrong.append((cell, trial.observer))

    def _with_lines(self, learner):
        """Look for the lines that are wrong, now that all is judged: a fork is shown texts that may
        be right. What a cell shows is put in its place only if it is a mistake again."""
        self._at, self._has_shown_steps = None, True
        for cell, asked in self._wrong:
            definitions = self.judge.definitions(cell, self.job.cells)
            if definitions:
                observer, count = learner.observer(asked), self._counts[cell]
                trial = self.judge.run(cell.source, learner, observer, count, definitions)
                if trial.is_mistake:
                    self.ran[cell.index] = trial.ran
                trial.close()

    def _go_on_without(self, gone):
        """Decide what the next run does without, after the submission's process has gone."""
        if self._has_shown_steps or self.patience.is_over:
            self.is_through = True
            missing = [cell for cell in self.job.cells if cell.index not in self.ran]
            for cell in missing:
                self._fail(cell, f"not run: {gone}.")
            if missing or self._at is not None:
                self.notes.append(f"{gone}: not all was run")
        elif gone.from_outside and not self._was_disturbed:
            self._was_disturbed = True
            self.notes.append(f"{gone}: the notebook was run once more")
        elif self._at is not None:
            self._leave_out(self._at, gone)

    def _leave_out(self, cell, gone):
        if cell.graded:
            self._ended.add(cell)
            self._fail(cell, f"{gone}.")
            self.notes.append(f"a step was not graded: {gone}")
            return
        kept = NOTHING if cell in self._left_out else DEFINITIONS
        self._left_out[cell] = kept
        self._fail(cell, f"{gone}. The notebook was run again with {kept} of this cell.")
        self.notes.append(f"{gone}: the notebook was run again without that cell")

    def _fail(self, cell, reason):
        self.ran[cell.index] = outputs.failed("Stopped", reason)


def _list(names):
    shown = ", ".join(names[:MAX_LISTED])
    return shown if len(names) <= MAX_LISTED else f"{shown} and others"


def serve(channel: wire.Channel, worker: Worker):
    """Do what the head asks for over `channel`; raises Closed when it hangs up."""
    while True:
        channel.send(_answer(worker, *channel.receive()))


def _answer(worker, message, payload):
    try:
        return worker.grade(Job.from_message(message, payload)).to_message()
    except (Broken, CourseError) as error:
        return {"failed": str(error)}
