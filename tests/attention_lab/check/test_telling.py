from itertools import combinations

import pytest

from attention_lab import check
from attention_lab.check import steps
from attention_lab.check.telling import SIZES, telling


@pytest.mark.parametrize("step", check.STEPS)
def test_a_right_answer_is_right_there(step):
    probes, expected = telling(step)
    assert len(probes) == len(expected) == len(SIZES)
    assert all(not outcome.failure for seen in expected for outcome in seen.outcomes)


@pytest.mark.parametrize("pair", list(combinations(("B", "T", "H", "d_head"), 2)))
def test_every_two_sizes_are_once_the_same_where_the_others_differ(pair):
    def are_alone(sizes):
        values = [getattr(sizes, name) for name in ("B", "T", "H", "d_head")]
        same = len({getattr(sizes, name) for name in pair}) == 1
        return same and len(set(values)) == 3 and 1 not in values

    assert any(map(are_alone, SIZES))


def test_exercises_have_none():
    assert {telling(step.name) for step in steps.EXERCISES} == {((), ())}
