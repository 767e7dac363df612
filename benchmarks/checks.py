"""The checks: how fast they answer, and whether any verdict depends on the numbers drawn.

    python benchmarks/checks.py [timings] [seeds] [answers] [--seeds FIRST LAST]

Without arguments all three. Prints the figures, tells how far it is, and fails where one falls
short. `--seeds 0 49` tries those seeds only, so that all 200 can be tried in several runs.
"""

import argparse
import os
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import torch

from attention_lab import check

TESTS = Path(__file__).resolve().parents[1] / "tests"
sys.path[:0] = [str(TESTS / "bank"), str(TESTS / "suites")]

from answers import Composer  # noqa: E402
from solutions import solutions  # noqa: E402
from verdict import torch_as_it_was, verdict, written  # noqa: E402

import bank  # noqa: E402

VISIBLE_SECONDS = 0.25
HIDDEN_SECONDS = 0.4
SEEDS = (0, 199)  # the first and the last
WRONG_EVERY = 10  # seeds: naming what is wrong takes longer than seeing that it is
ANSWERS = 4000

# What a kernel does before the first check, then what is timed; the last line is its time.
FRESH = """
import math, sys, time
import torch
import torch.nn.functional as F
from torch import nn
from attention_lab import check
exec(sys.stdin.read())
check.use_seed(1)
seconds = []
for _ in range({rounds}):
    started = time.perf_counter()
    {checks}
    seconds.append(time.perf_counter() - started)
print(min(seconds))
"""
VISIBLE = "check.{0}({0})"
HIDDEN = """for step in check.STEPS:
        for aspect in ("shape", "value"):
            getattr(check, step)(globals()[step], aspect=aspect, hidden=True)
"""
SOLVED = {s.step: s.source for s in solutions() if s.origin in ("reference", "one piece")}


def timings():
    """Each visible check as the first in its kernel; all hidden ones in a process that has run them
    before, as a grader's worker has. Each the best of several times."""
    good = True
    for step in check.STEPS:
        seconds = min(_in_fresh_process(VISIBLE.format(step)) for _ in range(3))
        good &= _report(f"visible {step}, first in its kernel", seconds, VISIBLE_SECONDS)
    first = _in_fresh_process(HIDDEN)
    print(f"all hidden checks, first in their process: {first:.3f} s")
    later = _in_fresh_process(HIDDEN, rounds=10)
    return good & _report("all hidden checks of all steps", later, HIDDEN_SECONDS)


def _in_fresh_process(checks, rounds=1):
    run = subprocess.run(
        [sys.executable, "-c", FRESH.format(checks=checks, rounds=rounds)],
        input="\n".join(SOLVED.values()),
        capture_output=True,
        text=True,
        check=True,
    )
    return float(run.stdout.splitlines()[-1])


def _report(what, seconds, limit):
    good = seconds <= limit
    print(f"{what}: {seconds:.3f} s, limit {limit} s{'' if good else ' TOO SLOW'}", flush=True)
    return good


def seeds(first, last):
    """All right answers of the bank, and with every tenth seed one wrong one of each step."""
    right = [case.NAME for case in bank.load(verdict="right")]
    wrong = [bank.load(step, "wrong")[0].NAME for step in check.STEPS]
    tried = range(first, last + 1)
    jobs = [(seed, right + wrong * (seed % WRONG_EVERY == 0)) for seed in tried]
    changed = _all(_changed, jobs)
    for line in changed:
        print(line)
    verdicts = sum(len(names) for _, names in jobs)
    print(f"seeds {first} to {last}, {verdicts} verdicts: {len(changed)} changed", flush=True)
    return not changed


def _changed(job):
    seed, names = job
    check.use_seed(seed)
    lines = []
    for case in bank.load():
        if case.NAME in names:
            with torch_as_it_was():
                mistake = verdict(case.STEP, bank.run(case)[case.STEP], hidden=True)
            found = mistake.misconception if mistake else "right"
            if found != case.KIND:
                lines.append(f"seed {seed}: {case.NAME} is {case.KIND}, found {found}: {mistake}")
    return lines


def answers():
    """Thousands of right answers put together at random."""
    rejected = _all(_rejected, Composer(seed=0).sample(ANSWERS))
    for line in rejected:
        print(line)
    print(f"{ANSWERS} random right answers: {len(rejected)} rejected", flush=True)
    return not rejected


def _rejected(answer):
    check.use_seed(0)
    mistake = verdict(answer.step, written(answer.source, answer.step), hidden=True)
    return [f"{mistake}\n{answer.source}"] if mistake else []


def _all(work, jobs):
    """Do all jobs, on all cores; return the lines of all of them."""
    told, started = [], time.monotonic()
    with ProcessPoolExecutor(
        os.cpu_count(), initializer=torch.set_num_threads, initargs=(1,)
    ) as pool:
        for done, lines in enumerate(pool.map(work, jobs, chunksize=4), start=1):
            told += lines
            if done % max(1, len(jobs) // 10) == 0:
                passed = time.monotonic() - started
                print(f"{done} of {len(jobs)} after {passed:.0f} s", file=sys.stderr, flush=True)
    return told


PARTS = ("timings", "seeds", "answers")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "parts", nargs="*", choices=[*PARTS, []], help="all of them if none is given"
    )
    parser.add_argument("--seeds", nargs=2, type=int, default=SEEDS, metavar=("FIRST", "LAST"))
    given = parser.parse_args()
    parts = {"timings": timings, "seeds": partial(seeds, *given.seeds), "answers": answers}
    results = [parts[part]() for part in given.parts or parts]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
