"""The checks: how fast they answer, and whether any verdict depends on the numbers drawn.

    python benchmarks/checks.py [timings] [seeds] [answers]

Without arguments all three, which takes some 20 minutes of two quiet cores. Prints the figures and
fails where one falls short.
"""

import argparse
import os
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
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
SEEDS = 200
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


def seeds():
    """All right answers of the bank and one wrong one of each step, with other numbers."""
    wrong = [bank.load(step, "wrong")[0] for step in check.STEPS]
    cases = [case.NAME for case in bank.load(verdict="right") + wrong]
    changed = _all(_changed, [(seed, cases) for seed in range(SEEDS)])
    for line in changed:
        print(line)
    print(f"{SEEDS} seeds, {len(cases)} answers: {len(changed)} verdicts changed", flush=True)
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
    with ProcessPoolExecutor(
        os.cpu_count(), initializer=torch.set_num_threads, initargs=(1,)
    ) as pool:
        return [line for lines in pool.map(work, jobs, chunksize=4) for line in lines]


PARTS = {part.__name__: part for part in (timings, seeds, answers)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "parts", nargs="*", choices=[*PARTS, []], help="all of them if none is given"
    )
    chosen = parser.parse_args().parts or list(PARTS)
    results = [PARTS[part]() for part in chosen]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
