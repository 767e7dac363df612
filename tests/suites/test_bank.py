"""Every answer of the bank gets the verdict it deserves, and every wrong one its name."""

from dataclasses import replace

import pytest
from verdict import verdict

import bank
from attention_lab.check import STEPS, run

RIGHT, WRONG = bank.load(verdict="right"), bank.load(verdict="wrong")


def cases(some):
    return pytest.mark.parametrize("case", some, ids=lambda case: case.NAME)


@cases(RIGHT)
def test_right_answers_are_accepted(case, note):
    answer = bank.run(case)[case.STEP]
    mistakes = [
        verdict(case.STEP, answer, aspect=aspect, hidden=hidden)
        for aspect in (None, "shape", "value")
        for hidden in (False, True)
    ]
    note("bank", "right")
    note("bank", "right rejected" if any(mistakes) else "right accepted")
    assert mistakes == [None] * 6


@cases(WRONG)
def test_wrong_answers_are_rejected_and_named(case, note):
    answer = bank.run(case)[case.STEP]
    mistake = verdict(case.STEP, answer, hidden=True)
    note("bank", "wrong")
    note("bank", "wrong rejected" if mistake else "wrong accepted")
    assert mistake
    assert len(str(mistake).splitlines()) <= 6 + bool(mistake.where)
    name = mistake.misconception
    note("bank", "named" if name == case.KIND else "misnamed" if name else "unnamed")
    assert name == case.KIND


@cases(WRONG)
def test_wrong_answers_never_gain_the_points_of_the_value(case, undiagnosed):
    assert verdict(case.STEP, bank.run(case)[case.STEP], aspect="value", hidden=True)


@cases(WRONG)
def test_wrong_answers_are_rejected_by_what_is_visible(case, undiagnosed):
    assert verdict(case.STEP, bank.run(case)[case.STEP])


def test_bank_is_whole():
    assert len(RIGHT) >= 46
    assert len(WRONG) >= 107


@pytest.fixture
def reworded(monkeypatch):
    """Every trial described in other words, and none as before."""
    made = run.make_probes
    run._trials.cache_clear()
    monkeypatch.setattr(
        run,
        "make_probes",
        lambda *args: tuple(replace(p, about=f"try {n}") for n, p in enumerate(made(*args))),
    )
    yield
    run._trials.cache_clear()


@pytest.mark.usefixtures("reworded")
@pytest.mark.parametrize("step", STEPS)
def test_nothing_hangs_on_the_words_that_describe_a_trial(step):
    for case in bank.load(step):
        mistake = verdict(step, bank.run(case)[step], hidden=True)
        assert (mistake.misconception if mistake else "right") == case.KIND, case.NAME
        assert mistake is None or "try " in mistake.seen or mistake.aspect == "shape"
