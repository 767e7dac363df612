"""Which known mistakes do what an answer does: faulty implementations, run and compared."""

import re
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import combinations, islice

import torch
from torch import Tensor

from attention_lab.check import catalogue, steps
from attention_lab.check.evidence import Trial
from attention_lab.check.judge import tensors
from attention_lab.check.numbers import close
from attention_lab.observation import Tag

EXACT = 1e-12
AS_GOOD_AS_INFINITE = 3e4  # in a mask, beside scores of up to 1e4

AXIS = re.compile(r"non-singleton dimension \d+")
# What makes NaN of a row's -inf.
SPOILED_BY_CLOSED = {"mean", "amin", "min", "aminmax", "std", "var", "var_mean", "std_mean"}

Reading = tuple[catalogue.Misconception, ...]  # mistakes that do together what was seen


def matching(evidence) -> list[Reading]:
    """Return the known mistakes that do what the answer does wherever it was tried, right and
    wrong; likeliest first. Where none does, two made together, in different parts of the answer;
    else those that do so at ordinary sizes and numbers: then there is another one beside it."""
    if _has_own_nan(evidence):
        return []
    step, everywhere = evidence.step, _comparisons(evidence)
    ordinary = [c for c in everywhere if c.trial.probe.basic]
    with torch.no_grad():
        return (
            _agreeing(_singles(step), everywhere)
            or _first_agreeing(pairs(step), everywhere)
            or _agreeing(_singles(step), ordinary)
        )


def _has_own_nan(evidence):
    """Whether NaN is all that is wrong and may come of a mean or minimum of closed scores: then any
    other way to NaN looks the same."""
    if not evidence.called & SPOILED_BY_CLOSED:
        return False
    wrong = [t for t in evidence.basic if t.got and not t.right]
    return bool(wrong) and all(map(_is_nan_alone, wrong))


def _is_nan_alone(trial):
    """Whether rows of NaN are all that is wrong."""
    return trial.has_right_shape and all(
        bool(got.isnan().any()) and close(torch.where(got.isnan(), right, got), right, 1e-3)
        for got, right in zip(trial.got, trial.wanted, strict=True)
    )


@lru_cache
def _singles(step):
    """Each mistake of a step as a reading, and its faulty implementations."""
    return tuple(((entry,), entry.faulty) for entry in catalogue.of_step(step))


@lru_cache
def pairs(step):
    """Return two mistakes each, in different parts of one answer, and the implementation of both.
    For a class only the first way to make each, which are thousands of pairs already."""
    ways = 1 if steps.of(step).of_class else None
    parts = []
    for entry in catalogue.of_step(step):
        parts += [(entry, f) for f in entry.faulty if isinstance(f, partial)][:ways]
    return tuple(
        ((one, other), (partial(first.func, **first.keywords, **second.keywords),))
        for (one, first), (other, second) in combinations(parts, 2)
        if one is not other
        and first.func is second.func
        and not first.keywords.keys() & second.keywords.keys()
    )


def _agreeing(readings, comparisons):
    found = list(_fitting(readings, comparisons))
    if len(found) > 1:  # those that agree to the last digit come first
        exact = [c for c in comparisons if c.is_exact]
        found.sort(key=lambda pair: not any(_agrees_exactly(f, exact) for f in pair[1]))
    return [reading for reading, _ in found]


def _first_agreeing(readings, comparisons):
    return [reading for reading, _ in islice(_fitting(readings, comparisons), 1)]


def _fitting(readings, comparisons):
    """The readings that do what was seen, and the implementations that do."""
    if not any(c.got is not None and not c.trial.right for c in comparisons):
        return
    for reading, implementations in readings:
        same = [faulty for faulty in implementations if all(c.agrees(faulty) for c in comparisons)]
        if same:
            yield reading, same


def _agrees_exactly(faulty, comparisons):
    return all(c.agrees(faulty, EXACT) for c in comparisons)


def _comparisons(evidence):
    """The calls that tell answers apart, wrong and small ones first, long ones last of all.

    A failure on rarer input is a mistake of its own; what only a law judges is compared where
    nothing else is wrong.
    """
    trials = [t for t in evidence.trials if t.outcome.failure is None or t.probe.basic]
    judged = [t for t in trials if t.probe.tolerance is not None]
    if not all(t.right for t in judged):
        trials = judged
    trials.sort(key=lambda t: (_is_long(t.probe), t.right, sum(w.numel() for w in t.wanted)))
    return [_Comparison(t, t.got) for t in trials]


@dataclass(frozen=True)
class _Comparison:
    """A call that faulty implementations make too. got: what the answer returned."""

    trial: Trial
    got: tuple[Tensor, ...] | None

    @property
    def is_exact(self):
        """Whether it is made, or asked for, in float64."""
        args = self.trial.call.args
        return any(getattr(a, "dtype", a) is torch.float64 for a in args)

    def agrees(self, faulty, tolerance=None):
        """Whether `faulty` does the same here, or fails in the same way."""
        try:
            mine = _did(faulty, self.trial.probe, self.trial.index)
        except Exception as error:
            return _fails_alike(error, self.trial.outcome.failure)
        if mine is None or self.got is None or len(mine) != len(self.got):
            return False
        tolerance = tolerance or 2 * self.trial.tolerance
        return all(_same(m, g, tolerance) for m, g in zip(mine, self.got, strict=True))


def _fails_alike(error, failure):
    """Whether two exceptions are of one type, and of one axis where both tell of one."""
    if failure is None or type(error).__name__ != failure.type:
        return False
    axes = [AXIS.search(text) for text in (str(error), failure.message)]
    return not all(axes) or axes[0][0] == axes[1][0]


def _did(faulty, probe, index):
    """What `faulty` returns for one call of a probe. Kept, unless it is long, since a class of
    students is tried with the same probes."""
    return (_run if _is_long(probe) else _run_once)(faulty, probe, index)


def _is_long(probe):
    return Tag.LONG in probe.tags


def _run(faulty, probe, index):
    args = steps.of(probe.step).for_faulty(probe, index)
    return tensors(probe.step, _as_plain(faulty(*args)))


_run_once = lru_cache(maxsize=20_000)(_run)


def _as_plain(output):
    return tuple(output) if isinstance(output, list) else output


def _same(mine, got, tolerance):
    if mine.shape != got.shape or _kind(mine) != _kind(got):
        return False
    mine, got = _effective(mine), _effective(got)
    same_nan = bool((mine.isnan() == got.isnan()).all())
    return same_nan and close(
        got.nan_to_num(0, 1e30, -1e30), mine.nan_to_num(0, 1e30, -1e30), tolerance
    )


def _kind(tensor):
    return tensor.dtype is torch.bool, tensor.is_floating_point()


def _effective(numbers):
    numbers = numbers.double()
    return torch.where(numbers.abs() > AS_GOOD_AS_INFINITE, numbers.sign() * torch.inf, numbers)
