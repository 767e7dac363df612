"""Which known mistakes do what an answer does: faulty implementations, run and compared."""

from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import combinations, islice, product

import torch
from torch import Tensor

from attention_lab.check import catalogue, steps
from attention_lab.check.catalogue.entry import Fitted
from attention_lab.check.evidence import Trial
from attention_lab.check.judge import tensors
from attention_lab.check.numbers import close
from attention_lab.observation import Tag
from attention_lab.observation.neutral import neutral_torch
from attention_lab.observation.observe import observe

EXACT = 1e-12
AS_GOOD_AS_INFINITE = 3e4  # in a mask, beside scores of up to 1e4

# What makes NaN of a row's -inf.
SPOILED_BY_CLOSED = {"mean", "amin", "min", "aminmax", "std", "var", "var_mean", "std_mean"}

Reading = tuple[catalogue.Misconception, ...]  # mistakes that do together what was seen


def matching(evidence) -> list[Reading]:
    """Return the known mistakes that do what the answer does wherever it was tried, right and
    wrong, and at sizes at which they come apart; likeliest first."""
    return _agreeing(evidence, _singles(evidence.step))


def together(evidence) -> list[Reading]:
    """Return the first two mistakes in different parts of the answer that together do so."""
    return _agreeing(evidence, pairs(evidence.step), most=1)


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


def keeping(evidence) -> list[Reading]:
    """Return the known mistake that keeps something from one call to the next just as the answer
    does, where all is tried in the same order."""
    step = steps.of(evidence.step)
    if not evidence.trials or not evidence.trials[0].right:
        return []
    for entry in catalogue.of_step(step.name):
        if any(_does_all(make(), evidence) for make in entry.kept):
            return [(entry,)]
    if step.of_class:
        return []
    for key, last in product(KEYS, (False, True)):
        if _does_all(_kept(step.right, key, last), evidence):
            return [(catalogue.by_signature(step.name, "stale-cache"),)]
    return []


def _has_same_gradients(mine, seen):
    arrived = [[g is None or not g.any() for g in o.gradients] for o in (mine, seen)]
    return arrived[0] == arrived[1] and (not mine.backward_failure) == (not seen.backward_failure)


def _kept(right, key, last):
    """A right answer that keeps each result, or the last one, by what `key` tells of its
    arguments."""
    results = {}

    def answer(*args):
        known_by = key(args)
        if known_by not in results:
            if last:
                results.clear()
            results[known_by] = right(*args)
        return results[known_by]

    return answer


def _sizes(args):
    return tuple(tuple(a.shape) if isinstance(a, Tensor) else a for a in args if _has_size(a))


def _has_size(arg):
    return isinstance(arg, Tensor | int)


def _dtypes(args):
    return tuple(getattr(a, "dtype", a) for a in args if not isinstance(a, torch.device | int))


def _devices(args):
    return tuple(str(getattr(a, "device", a)) for a in args if not isinstance(a, torch.dtype | int))


KEYS = (
    lambda args: (),
    lambda args: _sizes(args[:1]),
    _sizes,
    lambda args: (_sizes(args), _dtypes(args)),
    lambda args: (_sizes(args), _devices(args)),
)


def _does_all(answer, evidence):
    """Whether an answer shows on all probes what was seen."""
    with neutral_torch():
        for probe, seen in zip(evidence.probes, evidence.observations, strict=True):
            mine = observe(answer, probe)
            if (
                mine.failure
                or seen.failure
                or not all(
                    _is_outcome(probe, *pair)
                    for pair in zip(mine.outcomes, seen.outcomes, strict=True)
                )
            ):
                return False
    return True


def _is_outcome(probe, mine, seen):
    if mine.failure or seen.failure:
        failures = mine.failure, seen.failure
        return all(failures) and failures[0].type == failures[1].type
    if not _has_same_gradients(mine, seen):
        return False
    one, other = tensors(probe.step, mine.output), tensors(probe.step, seen.output)
    if one is None or other is None or len(one) != len(other):
        return False
    return all(
        (a.dtype, a.device) == (b.dtype, b.device)
        and (a.shape == b.shape if a.is_meta else _same(a, b, 1e-5))
        for a, b in zip(one, other, strict=True)
    )


def _agreeing(evidence, readings, most=None):
    if not evidence.goes_wrong or _has_own_nan(evidence):
        return []
    comparisons = _comparisons(evidence)
    if all(c.trial.right for c in comparisons):
        return []
    with torch.no_grad():
        found = list(islice(_fitting(evidence, readings, comparisons), most))
        exact = [c for c in comparisons if c.is_exact]
        to_the_last_digit = [r for r, all_ in found if any(_agree(f, exact, EXACT) for f in all_)]
    found = to_the_last_digit or [reading for reading, _ in found]
    trials = (*(c.trial for c in comparisons), *(evidence.telling if found else ()))
    if _are_told_apart(trials) or (len(found) == 1 and _fail_at_some_sizes(trials)):
        return found
    return []


def _fitting(evidence, readings, comparisons):
    """The readings that do what was seen, and the implementations that do."""
    for reading, implementations in readings:
        same = [f for f in _made(implementations, evidence) if _agree(f, comparisons)]
        if same:
            same = [f for f in same if _agree(f, [_Comparison(t, t.got) for t in evidence.telling])]
        if same:
            yield reading, same


def _are_told_apart(trials):
    """Whether more is known of what is wrong than that it fails or is NaN all over."""
    wrong = [t for t in trials if t.got is not None and not t.right]
    return any(not all(g.isnan().all() for g in t.got) for t in wrong)


def _fail_at_some_sizes(trials):
    """Whether calls fail that are right at other sizes, where no size is 1."""
    failing = {t.masked for t in trials if not t.right}
    return any(t.right and t.masked in failing and not t.is_easy for t in trials)


def _made(implementations, evidence):
    """The faulty answers, those with a number in them with what the first wrong trial shows."""
    for faulty in implementations:
        if not isinstance(faulty, Fitted):
            yield faulty
        elif evidence.wrong and (number := _read(faulty, evidence.wrong[0])) is not None:
            yield faulty.make(number)


def _read(fitted, trial):
    return fitted.read(trial) if trial.has_right_shape else None


def _agree(faulty, comparisons, tolerance=None):
    return all(c.agrees(faulty, tolerance) for c in comparisons)


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
    """Whether two exceptions are of one type."""
    return failure is not None and type(error).__name__ == failure.type


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
