"""Random right answers are accepted, however they are written."""

import pytest
from answers import Composer
from verdict import verdict, written

SAMPLE = Composer(seed=2017).sample(300)


@pytest.mark.parametrize("answer", SAMPLE, ids=[f"{a.step} {n}" for n, a in enumerate(SAMPLE)])
def test_random_right_answers_are_accepted(answer, note):
    mistake = verdict(answer.step, written(answer.source, answer.step), hidden=True)
    note("random right answers", "rejected" if mistake else "right")
    assert mistake is None, f"{mistake}\n{answer.source}"


def test_there_are_thousands_of_them():
    assert len({a.source for a in Composer(seed=0).sample(5000)}) == 5000
    assert Composer(seed=1).sample(3) == Composer(seed=1).sample(3) != Composer(seed=2).sample(3)
