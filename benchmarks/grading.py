"""How fast a class is graded: nbgrader as it comes, and with the sandbox, on the same submissions.

    python benchmarks/grading.py                    48 submissions, both ways
    python benchmarks/grading.py --submissions 6    a quick look
    python benchmarks/grading.py --long             also 100 and 1,000 submissions, sandbox only

Exits with 1 if a ratio falls short, the points differ, the workers take too much memory, or a page
of feedback is too large.
"""

import argparse
import math
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import psutil
from nbgrader.api import Gradebook
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config

from classroom.register import register
from classroom.sample import make_class

REPOSITORY = Path(__file__).resolve().parents[1]
ASSIGNMENT = "mha"
WORKERS = 2
TIMES_FASTER = 10
TIMES_CHEAPER = 15
MEMORY = 1536 << 20
SAMPLED = 0.2  # seconds from one look at the memory to the next
PAGE = 800_000  # bytes of one student's feedback
LONG = 1.1  # what a submission among 1,000 may cost, relative to one among 100

OURS = f"""
from classroom import configure
c = get_config()
configure(c)
c.Grading.workers = {WORKERS}
"""
STOCK = """
c = get_config()
c.Execute.iopub_timeout = 60  # its 4 s drop right notebooks on a busy machine
"""


class Course:
    """A course with `count` submissions, graded by the command that a teaching assistant types."""

    def __init__(self, root: Path, config: str, count: int):
        self.root = root
        make_class(REPOSITORY / "examples" / "class", REPOSITORY, root, count)
        (root / "nbgrader_config.py").write_text(config, encoding="utf-8")
        if config is STOCK:  # it wants that done before
            register(CourseDirectory(root=str(root)), ASSIGNMENT, Config())

    def autograde(self) -> float:
        """Grade everything; return the seconds it took."""
        command = [sys.executable, "-m", "nbgrader", "autograde", ASSIGNMENT, "--log-level=ERROR"]
        begun = time.perf_counter()
        subprocess.run(command, cwd=self.root, check=True)
        return time.perf_counter() - begun

    def feedback(self) -> list[int]:
        """Write everybody's feedback; return the sizes of the pages in bytes."""
        command = [sys.executable, "-m", "nbgrader", "generate_feedback", ASSIGNMENT]
        subprocess.run([*command, "--log-level=ERROR"], cwd=self.root, check=True)
        return [path.stat().st_size for path in (self.root / "feedback").rglob("*.html")]

    def points(self) -> dict[tuple[str, str], float]:
        """The points of each student's cells."""
        with Gradebook(f"sqlite:///{self.root}/gradebook.db") as gradebook:
            return {
                (submission.student.id, grade.name): grade.auto_score
                for submission in gradebook.find_assignment(ASSIGNMENT).submissions
                for notebook in submission.notebooks
                for grade in notebook.grades
            }


class PeakMemory(threading.Thread):
    """Samples the memory of the workers and their sandboxes, shared pages counted once.

    peak: in bytes; infinite if that of one of them could not be read.
    """

    def __init__(self):
        super().__init__(daemon=True)
        self.peak = 0
        self._done = threading.Event()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self._done.set()
        self.join()

    def run(self):
        while not self._done.wait(SAMPLED):
            self.peak = max(self.peak, sum(map(_pss, psutil.Process().children(recursive=True))))


def _pss(process):
    try:
        words = process.cmdline()
        counted = "classroom.grading" in words or "grading_sandbox" in words
        return process.memory_full_info().pss if counted else 0
    except psutil.NoSuchProcess:
        return 0
    except psutil.AccessDenied:
        return math.inf


def seconds(config: str, count: int, scratch: Path) -> tuple[float, Course]:
    course = Course(scratch / f"{'ours' if config is OURS else 'stock'}-{count}", config, count)
    return course.autograde(), course


def compare(count: int, scratch: Path) -> bool:
    """Grade `count` submissions both ways; say how they compare and whether that is enough."""
    with PeakMemory() as memory:  # in a run of its own: to look takes time from what is looked at
        seconds(OURS, count, scratch / "memory")
    one_stock, _ = seconds(STOCK, 1, scratch)
    one_ours, _ = seconds(OURS, 1, scratch)
    all_ours, ours = seconds(OURS, count, scratch)
    all_stock, stock = seconds(STOCK, count, scratch)
    each_stock = (all_stock - one_stock) / (count - 1)
    each_ours = (all_ours - one_ours) / (count - 1)
    print(f"{count} submissions, {WORKERS} workers")
    return all(
        [
            _ratio("in all", all_stock, all_ours, TIMES_FASTER),
            _ratio("each further one", each_stock, each_ours, TIMES_CHEAPER),
            _enough_memory(memory.peak),
            _same_points(stock.points(), ours.points()),
            _small_pages(ours.feedback()),
        ]
    )


def _ratio(what, stock, ours, wanted):
    ratio = stock / ours
    enough = ratio >= wanted
    mark = "ok" if enough else f"SHORT of {wanted}"
    print(f"  {what:18}{stock:8.2f} s → {ours:6.2f} s   {ratio:5.1f}×  {mark}")
    return enough


def _enough_memory(peak):
    seen = 0 < peak < math.inf
    enough = seen and peak <= MEMORY
    mark = "ok" if enough else "TOO MUCH" if seen else "NOT SEEN"
    print(f"  {'memory':18}{peak / (1 << 20):8.0f} MiB  {mark}")
    return enough


def _same_points(stock, ours):
    different = sorted(key for key in stock.keys() | ours.keys() if stock.get(key) != ours.get(key))
    print(f"  {'points':18}{len(stock):8} cells  {'alike' if not different else 'DIFFERENT'}")
    for key in different:
        print(f"    {' '.join(key)}: {stock.get(key)} → {ours.get(key)}")
    return not different


def _small_pages(sizes):
    enough = max(sizes) <= PAGE
    mark = "ok" if enough else "TOO LARGE"
    print(f"  {'feedback, largest':18}{max(sizes) / 1e6:8.2f} MB   {mark}")
    return enough


def long_class(scratch: Path) -> bool:
    """Whether a submission costs in a class of 1,000 what it costs in one of 100."""
    one, _ = seconds(OURS, 1, scratch)
    few, many = ((seconds(OURS, n, scratch)[0] - one) / (n - 1) for n in (100, 1000))
    enough = many <= LONG * few
    print(f"  100: {few:.3f} s each, 1,000: {many:.3f} s each  {'ok' if enough else 'MORE'}")
    return enough


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--submissions", type=int, default=48)
    parser.add_argument("--long", action="store_true")
    options = parser.parse_args()
    if options.submissions < 2:
        parser.error("--submissions: at least 2, to tell what each further one costs")
    with tempfile.TemporaryDirectory() as scratch:
        enough = compare(options.submissions, Path(scratch))
        if options.long:
            enough &= long_class(Path(scratch) / "long")
    return 0 if enough else 1


if __name__ == "__main__":
    sys.exit(main())
