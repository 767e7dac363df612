"""From a verdict to words: what was seen, which misconception it shows, where to look."""

from dataclasses import dataclass, replace

from torch import Tensor

from attention_lab.check import catalogue, words
from attention_lab.check.judge import close, on_meta
from attention_lab.check.mistake import Mistake
from attention_lab.check.signatures import CERTAIN, OTHERS, Evidence, is_right
from attention_lab.observation import Outcome, Probe, Unknown
from attention_lab.observation.observe import observe

NO_REFERENCE = 5e-3  # how near two answers must be where only a law is judged
UNWRITTEN = ("NotWrittenYet", "NotImplementedError")


def diagnose(step, aspect, probes, observations, expected, verdict) -> Mistake:
    """Return the Mistake that a wrong answer shows; it names a misconception only if one fits."""
    symptom = verdict.against(aspect)[0]
    if getattr(symptom.got, "type", "") in UNWRITTEN:
        return Mistake(step, "shape", *words.UNWRITTEN)
    evidence = Evidence(step, probes, observations, expected, verdict)
    known = recognise(evidence)
    seen = words.seen(evidence, symptom)
    if not known:
        return Mistake(step, symptom.aspect, seen, *words.meaning(symptom))
    first, *others = known
    means = first.means
    if others:
        means += f" (Or: {others[0].means})"
    return Mistake(step, symptom.aspect, seen, means, first.look, first.slug)


def recognise(evidence) -> list[catalogue.Misconception]:
    """Return the misconceptions that fit, likeliest first: one, several, or none."""
    for signature in CERTAIN:
        if slug := signature(evidence):
            return [catalogue.explain(evidence.step, slug)]
    if matching := _matching(evidence):
        return matching
    for signature in OTHERS:
        if slug := signature(evidence):
            return [catalogue.explain(evidence.step, slug)]
    return []


def _matching(evidence):
    """The known mistakes whose implementation does what the answer does, right and wrong."""
    trials = sorted(_trials(evidence), key=lambda trial: trial.right)
    if not any(not trial.right and trial.outcome.output is not None for trial in trials):
        return []
    found = {}
    for entry in catalogue.of_step(evidence.step):
        if entry.faulty and entry.slug not in found and _does_the_same(entry.faulty, trials):
            found[entry.slug] = entry
    return list(found.values())


@dataclass(frozen=True)
class _Trial:
    """One call on its own, what the answer did, and whether that was right."""

    probe: Probe
    outcome: Outcome
    right: bool

    @property
    def tolerance(self):
        return 2 * (self.probe.tolerance or NO_REFERENCE)


def _trials(evidence):
    """The calls that tell answers apart; failing on rarer input is a mistake of its own."""
    for probe, call, outcome, right in evidence.calls():
        if not on_meta(probe) and (outcome.failure is None or probe.basic):
            single = replace(probe, calls=(replace(call, upstream=()),), heads=None)
            yield _Trial(single, outcome, is_right(probe, outcome, right))


def _does_the_same(faulty, trials):
    return all(_same_outcome(observe(faulty, t.probe), t.outcome, t.tolerance) for t in trials)


def _same_outcome(observation, outcome, tolerance):
    if observation.failure:
        return False
    (mine,) = observation.outcomes
    if outcome.failure or mine.failure:
        return bool(outcome.failure) == bool(mine.failure)
    return _same_output(mine.output, outcome.output, tolerance)


def _same_output(one, other, tolerance):
    if isinstance(one, Tensor) and isinstance(other, Tensor):
        if one.shape != other.shape or one.is_floating_point() != other.is_floating_point():
            return False
        one, other = one.double(), other.double()
        if not bool((one.isnan() == other.isnan()).all()):
            return False
        return close(other.nan_to_num(0, 1e30, -1e30), one.nan_to_num(0, 1e30, -1e30), tolerance)
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(
            _same_output(a, b, tolerance) for a, b in zip(one, other, strict=True)
        )
    return type(one) is type(other) and not isinstance(one, Tensor | Unknown)
