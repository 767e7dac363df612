"""How many workers one head process can feed, and whether a large class costs it more.

    python benchmarks/head.py                      5,000 submissions
    python benchmarks/head.py --submissions 500    a quick look

The head process of `nbgrader autograde` repairs, merges and writes; workers run and judge, here or
on other machines. This grades a class in which each kind of answer is run by a worker only once, so
that what is left is the head's own time. Exits with 1 if a submission at the end of the class costs
the head clearly more computing than one near its beginning does.
"""

import argparse
import os
import resource
import statistics
import sys
import tempfile
import time
import warnings
from concurrent.futures import Future
from itertools import pairwise
from pathlib import Path
from typing import ClassVar, NamedTuple, Self

from nbgrader.apps import AutogradeApp
from sqlalchemy.exc import SAWarning

from classroom.grading import grading
from classroom.grading.pool import Pool
from classroom.sample import make_class

REPOSITORY = Path(__file__).resolve().parents[1]
ASSIGNMENT = "mha"
NAME = "multi_head_attention.ipynb"
COUNTED = 50  # submissions whose median is told, at each of these places in the class
PLACES = (100, 300, 1000, 3000)
GROWTH = 1.25


class Moment(NamedTuple):
    """A time by the clock and the head's own processor time, in seconds; the memory it has had."""

    clock: float
    processor: float
    mebibytes: float

    @classmethod
    def now(cls) -> Self:
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        return cls(time.perf_counter(), time.process_time(), memory)


class EachKindOnce(Pool):
    """Gives equal jobs the result of the first.

    seconds: what each took its worker. moments: when each submission was begun.
    """

    seconds: ClassVar[list[float]] = []
    moments: ClassVar[list[Moment]] = []

    def __init__(self, _, *arguments, **options):
        super().__init__(1, *arguments, **options)
        self._known = {}

    def submit(self, job) -> Future:
        if job not in self._known:
            begun = time.perf_counter()
            self._known[job] = super().submit(job)
            self._known[job].result()
            self.seconds.append(time.perf_counter() - begun)
        self.moments.append(Moment.now())
        done = Future()
        done.set_result(self._known[job].result())
        return done


def autograde(root: Path) -> int:
    """Grade everything; how many were graded."""
    os.chdir(root)
    warnings.simplefilter("ignore", SAWarning)  # nbgrader's own
    grading.Pool = EachKindOnce
    app = AutogradeApp.instance()
    app.initialize([ASSIGNMENT, f"--course-dir={root}", "--log-level=ERROR"])
    app.start()
    return sum(1 for _ in root.glob(f"autograded/*/*/{NAME}"))


def each(place: int) -> Moment:
    """What a submission took the head, as the median of those before a place in the class."""
    counted = EachKindOnce.moments[place - COUNTED : place]
    taken = [
        (later.clock - earlier.clock, later.processor - earlier.processor)
        for earlier, later in pairwise(counted)
    ]
    return Moment(*map(statistics.median, zip(*taken, strict=True)), counted[-1].mebibytes)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--submissions", type=int, default=5000)
    count = parser.parse_args().submissions
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch) / "course"
        make_class(REPOSITORY / "examples" / "class", REPOSITORY, root, count)
        graded = autograde(root)
        gradebook = (root / "gradebook.db").stat().st_size / 2**20
    print(f"{graded:,} of {count:,} submissions graded; the gradebook has {gradebook:.1f} MiB")
    places = [*(place for place in PLACES if place < count), count]
    for place in places:
        clock, processor, memory = each(place)
        print(
            f"  {clock:.3f} s for each by the head near the {place:,}th,"
            f" {processor:.3f} s of it computing; {memory:.0f} MiB of memory"
        )
    worker = statistics.median(EachKindOnce.seconds)
    first, last = each(places[0]), each(count)
    growth = last.processor / first.processor
    enough = growth <= GROWTH
    print(
        f"  {worker:.3f} s for each by a worker; more than {worker / last.clock:.1f} workers wait"
    )
    print(f"  {3600 / last.clock:,.0f} an hour at the end")
    print(f"  {growth:.2f} times the computing, end to beginning  {'ok' if enough else 'MORE'}")
    return 0 if enough and graded == count else 1


if __name__ == "__main__":
    sys.exit(main())
