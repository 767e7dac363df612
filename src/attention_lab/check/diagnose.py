"""From a verdict to words: what was seen, which misconception it shows, where to look."""

from itertools import islice

from attention_lab.check import catalogue, words
from attention_lab.check.card import card
from attention_lab.check.evidence import Evidence
from attention_lab.check.judge import KINDS
from attention_lab.check.matching import Reading, matching
from attention_lab.check.mistake import Mistake
from attention_lab.check.signatures import (
    ANYWHERE,
    BESIDE,
    CERTAIN,
    OTHERS,
    looped,
    reads_globals,
)
from attention_lab.check.steps import STEPS

UNWRITTEN = ("NotWrittenYet", "NotImplementedError")


def diagnose(step, aspect, probes, observations, expected, verdict) -> Mistake:
    """Return the Mistake that a wrong answer shows; it names a misconception only if one fits."""
    symptom = verdict.against(aspect)[0]
    if getattr(symptom.got, "type", "") in UNWRITTEN:
        return Mistake(step, "shape", *words.UNWRITTEN)
    try:
        return explain(symptom, Evidence(step, probes, observations, expected, verdict))
    except Exception:  # an answer may be odder than all that was thought of here
        seen = f"with {words.tried(step, symptom)}, {KINDS[symptom.kind]}."
        return Mistake(step, symptom.aspect, seen, *words.MEANING[symptom.kind])


def explain(symptom, evidence) -> Mistake:
    """Return the Mistake of which `symptom` is the first to be told."""
    seen, shown = words.seen(evidence, symptom), card(evidence, symptom)
    readings = recognise(evidence)
    if not readings:
        return Mistake(
            evidence.step, symptom.aspect, seen, *words.meaning(evidence, symptom), card=shown
        )
    slug = readings[0][0].slug
    return Mistake(
        evidence.step, symptom.aspect, seen, *words.told(readings, evidence), slug, shown
    )


def recognise(evidence) -> list[Reading]:
    """Return what fits, likeliest first: one reading, several, or none.

    What is done beside the numbers is named last where something else makes them wrong.
    """
    if certain := _first(evidence, CERTAIN):
        return certain
    if not evidence.goes_wrong:
        return _first(evidence, BESIDE) or _of_the_sum(evidence)
    beside = tuple(_signed(evidence, (*BESIDE, looped)))
    readings = _of_the_sum(evidence)
    if not readings:
        return [beside[:1]] if beside else []
    return [(*reading, *(b for b in beside if b not in reading)) for reading in readings]


def _of_the_sum(evidence):
    """What fits the numbers, or what else came back or was raised."""
    known = matching(evidence) or _first(evidence, OTHERS if evidence.step in STEPS else ANYWHERE)
    if known and known[0][0].slug == "hard-coded-size":  # perhaps in a variable
        return _first(evidence, [reads_globals]) or known
    return known


def _first(evidence, signatures):
    """The first thing that the signatures recognise as the only reading, or none."""
    return [(entry,) for entry in islice(_signed(evidence, signatures), 1)]


def _signed(evidence, signatures):
    """What the signatures recognise, one after the other."""
    for signature in signatures:
        if entry := catalogue.explain(evidence.step, signature(evidence)):
            yield entry
