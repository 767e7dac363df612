"""Every one-token mutant is wrong on a line that is known: that line is shown, and no other."""

import linecache
import random
from time import process_time

import pytest
from mutants import mutants
from solutions import solutions
from verdict import verdict

import bank
from attention_lab.check.line import locate

SHARE = {"function": 0.1, "class": 0.02}  # of the mutants, for the time it takes
PRELUDE = "import math\nimport torch\nfrom torch import nn\nimport torch.nn.functional as F\n"
OWN_STEPS = [s.source for s in solutions() if s.origin == "reference"]
SHOWN, KNOWN, SHOWN_OF_BANK = 0.85, 0.98, 0.7
# Wrong answers of the bank that no single change of an expression or a statement mends.
MORE_THAN_A_SLIP = {
    "MultiHeadAttention": "calls-sdpa-aten calls-sdpa-cnn exp-overflow heads-averaged loop-for "
    "loop-map max-len-8 no-bias split-merge-view-roundtrip stub-identity tamper-allclose",
    "attend": "mean-values",
    "attention_scores": "cosine float32-out",
    "causal_mask": "bool cache-ignores-dtype int-mask",
    "masked_softmax": "argmax content-ignored sigmoid",
    "merge_heads": "mean-heads mean-repeat numpy",
    "project": "relu",
    "split_heads": "batch-times-heads global-sizes hard-coded-dhead loop-heads numpy-roundtrip "
    "single-batch",
}


def in_cells(*cells):
    """The names that a notebook's cells leave behind, whose text can be read as in a kernel."""
    names = {"__name__": "student"}
    for cell in (PRELUDE, *cells):
        name = f"<cell {hash(cell)}>"
        linecache.cache[name] = (len(cell), None, cell.splitlines(keepends=True), name)
        exec(compile(cell, name, "exec"), names)
    return names


def sample():
    """Mutants, each with its solution."""
    draw = random.Random(0)
    for solution in solutions():
        share = SHARE["class" if solution.step == "MultiHeadAttention" else "function"]
        every = mutants(solution.source, solution.first, solution.last)
        yield from ((solution, mutant) for mutant in every if draw.random() < share)


def found(step, answer):
    """Whether an answer is rejected, and what is found of where it is wrong."""
    hidden = verdict(step, answer) is None
    if hidden and verdict(step, answer, hidden=True) is None:
        return False, None
    return True, locate(step, answer, hidden=hidden, clock=process_time)


def test_the_line_of_a_mutant_is_shown(note, undiagnosed):
    lines = []
    for solution, mutant in sample():
        answer = in_cells(*OWN_STEPS, mutant.source)[solution.step]
        is_rejected, where = found(solution.step, answer)
        if is_rejected:
            lines.append((mutant.line, where and dict(where.lines).values()))
    shown = [(line, where) for line, where in lines if where]
    known = sum(line in where for line, where in shown)
    note("lines", "rejected", len(lines))
    note("lines", "shown", len(shown))
    note("lines", "known", known)
    assert len(shown) >= SHOWN * len(lines) > 50
    assert known >= KNOWN * len(shown)


def slips():
    for case in bank.load(verdict="wrong"):
        _, _, name = case.NAME.split("__")
        if name not in MORE_THAN_A_SLIP.get(case.STEP, "").split():
            yield case


def test_the_line_of_a_slip_in_the_bank_is_shown(note, undiagnosed):
    lines = {}
    for case in slips():
        answer = in_cells(bank.LEFT_BEHIND, *OWN_STEPS, case.CODE)[case.STEP]
        _, lines[case.NAME] = found(case.STEP, answer)
    shown = [name for name, where in lines.items() if where is not None]
    note("lines", "slips", len(lines))
    note("lines", "shown of the bank", len(shown))
    assert len(shown) >= SHOWN_OF_BANK * len(lines)


@pytest.mark.parametrize("solution", solutions(), ids=lambda s: f"{s.origin} {s.step}")
def test_there_is_no_line_in_a_right_answer(solution):
    answer = in_cells(*OWN_STEPS, solution.source)[solution.step]
    assert locate(solution.step, answer, hidden=True) is None
