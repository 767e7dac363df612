"""Whatever numbers are drawn, the verdict and the name are the same."""

import pytest
from verdict import verdict

import bank
from attention_lab import check

SEEDS = (1, 2, 3, 4, 11)  # with 11, scores are uncommonly large
RIGHT = bank.load(verdict="right")
WRONG = bank.load(verdict="wrong")[::5]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("case", RIGHT + WRONG, ids=lambda case: case.NAME)
def test_no_verdict_depends_on_the_numbers(case, seed, note):
    check.use_seed(seed)
    mistake = verdict(case.STEP, bank.run(case)[case.STEP], hidden=True)
    found = mistake.misconception if mistake else "right"
    note("seeds", "verdicts")
    note("seeds", "same" if found == case.KIND else "changed")
    assert found == case.KIND
