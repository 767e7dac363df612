"""Every one-token mutant of the solutions is rejected, unless it does the same and we say why."""

import pytest
from equality import equal_on_random_inputs
from mutants import mutants
from solutions import solutions
from verdict import verdict, written

# Why a mutant is right: reason -> (what stood there, what stands there now).
EQUAL = {
    "two axes are exchanged whichever is named first": (
        ("transpose(1, 2)", "transpose(2, 1)"),
        ("transpose(-2, -1)", "transpose(-1, -2)"),
    ),
    "it is the same axis, counted from the other end": (
        ("transpose(1, 2)", "transpose(1, -2)"),
        ("transpose(-2, -1)", "transpose(2, -1)"),
    ),
    "the order of terms and of factors does not matter": (
        ("scores + mask", "mask + scores"),
        ("H * d_head", "d_head * H"),
    ),
    "queries and keys are equally wide": (("q.shape[-1]", "k.shape[-1]"),),
    "what is made of x lies where x lies": tuple(
        ("x.device", f"{name}.device") for name in ("q", "k", "v", "scores")
    ),
    "what is made of x has the dtype of x": tuple(
        ("x.dtype", f"{name}.dtype") for name in ("q", "k", "v")
    ),
    "0 and -inf of float32 are added to float64 without loss": ((", x.dtype)", ")"),),
}
TRIED = [
    (solution, mutant)
    for solution in solutions()
    for mutant in mutants(solution.source, solution.first, solution.last)
]


def reason(mutant):
    """Why `mutant` is right, or None."""
    for why, changes in EQUAL.items():
        if any(mutant.line == mutant.was.replace(*change) != mutant.was for change in changes):
            return why
    return None


def name(tried):
    solution, mutant = tried
    return f"{solution.origin} {solution.step}: {mutant.line}"


@pytest.mark.parametrize(("solution", "mutant"), TRIED, ids=map(name, TRIED))
def test_mutants_are_rejected_or_equal(solution, mutant, undiagnosed, note):
    step, why = solution.step, reason(mutant)
    answer = written(mutant.source, step, **solution.given)
    # With seed 0 the first of the hidden trials are the visible ones.
    rejected = verdict(step, answer) or verdict(step, answer, hidden=True)
    note("mutants", "rejected" if rejected else "equal" if why else "accepted")
    assert bool(rejected) == (why is None)
    if why:
        original = written(solution.source, step, **solution.given)
        assert equal_on_random_inputs(step, answer, original)


@pytest.mark.parametrize("solution", solutions(), ids=lambda s: f"{s.origin} {s.step}")
def test_solutions_are_accepted(solution):
    answer = written(solution.source, solution.step, **solution.given)
    assert verdict(solution.step, answer, hidden=True) is None


def test_every_reason_is_needed():
    needed = {reason(mutant) for _, mutant in TRIED}
    assert needed == {None, *EQUAL}


def test_equality_can_tell_two_answers_apart():
    solution = next(s for s in solutions() if s.step == "attention_scores")
    right = written(solution.source, solution.step)
    assert equal_on_random_inputs(solution.step, right, right)
    assert not equal_on_random_inputs(solution.step, right, lambda q, k: right(q, k) + 1e-3)
