"""How many workers one head process can feed, and whether a large class costs it more.

    python benchmarks/head.py                      5,000 submissions
    python benchmarks/head.py --submissions 500    a quick look

The head process of `nbgrader autograde` repairs, merges and writes; workers run and judge, here or
on other machines. This grades a class in which each kind of answer is run by a worker only once, so
that what is left is the head's own time. Exits with 1 if a submission at the end of the class costs
the head more than one near its beginning does.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
import warnings
from concurrent.futures import Future
from itertools import cycle, islice, pairwise
from pathlib import Path

import nbformat
from nbgrader.apps import AutogradeApp
from sqlalchemy.exc import SAWarning

from classroom.grading import grading
from classroom.grading.pool import Pool
from classroom.sample import hand_in, read_answers

REPOSITORY = Path(__file__).resolve().parents[1]
ASSIGNMENT = "mha"
NAME = "multi_head_attention.ipynb"
CONFIG = "from classroom import configure\nc = get_config()\nconfigure(c)\n"
COUNTED = 48  # submissions at the beginning, after the first of each kind, and as many at the end
GROWTH = 1.1


class EachKindOnce(Pool):
    """Gives equal jobs the result of the first. seconds: what each took its worker."""

    seconds: list[float]

    def __init__(self, _, *arguments):
        super().__init__(1, *arguments)
        self._known = {}
        EachKindOnce.seconds = []

    def submit(self, job) -> Future:
        if job not in self._known:
            begun = time.perf_counter()
            self._known[job] = super().submit(job)
            self._known[job].result()
            self.seconds.append(time.perf_counter() - begun)
        done = Future()
        done.set_result(self._known[job].result())
        return done


def make_course(root: Path, count: int) -> int:
    """A course with `count` submissions; how many kinds of answers there are."""
    (root / "nbgrader_config.py").write_text(CONFIG, encoding="utf-8")
    source = root / "source" / ASSIGNMENT
    source.mkdir(parents=True)
    (source / NAME).write_bytes((REPOSITORY / "source" / ASSIGNMENT / NAME).read_bytes())
    released = nbformat.read(REPOSITORY / "release" / ASSIGNMENT / NAME, as_version=4)
    files = sorted((REPOSITORY / "examples" / "class").glob("*.py"))
    kinds = [hand_in(released, read_answers(file.read_text(encoding="utf-8"))) for file in files]
    texts = [nbformat.writes(kind) for kind in kinds]
    for number, text in enumerate(islice(cycle(texts), count)):
        folder = root / "submitted" / f"student{number:06d}" / ASSIGNMENT
        folder.mkdir(parents=True)
        (folder / NAME).write_text(text, encoding="utf-8")
    return len(kinds)


def autograde(root: Path) -> list[float]:
    """Grade everything; return when each submission was done, in seconds."""
    os.chdir(root)
    warnings.simplefilter("ignore", SAWarning)  # nbgrader's own
    grading.Pool = EachKindOnce
    app = AutogradeApp.instance()
    app.initialize([ASSIGNMENT, f"--course-dir={root}", "--log-level=ERROR"])
    app.start()
    return sorted(path.stat().st_mtime for path in root.glob(f"autograded/*/*/{NAME}"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--submissions", type=int, default=5000)
    count = parser.parse_args().submissions
    with tempfile.TemporaryDirectory() as scratch:
        kinds = make_course(Path(scratch), count)
        done = autograde(Path(scratch))
    each = [later - earlier for earlier, later in pairwise(done[kinds:])]
    first, last = (statistics.median(part) for part in (each[:COUNTED], each[-COUNTED:]))
    worker = statistics.median(EachKindOnce.seconds)
    enough = last <= GROWTH * first
    print(f"{len(done):,} of {count:,} submissions graded")
    print(f"  {worker:.3f} s for each by a worker")
    print(f"  {first:.3f} s for each by the head at the beginning")
    print(f"  {last:.3f} s for each by the head at the end  {'ok' if enough else 'MORE'}")
    print(f"  more than {worker / last:.1f} workers wait for it, at {3600 / last:,.0f} an hour")
    return 0 if enough and len(done) == count else 1


if __name__ == "__main__":
    sys.exit(main())
