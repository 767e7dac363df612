"""From a verdict to words: what was seen, which misconception it shows, where to look."""

from itertools import islice

from attention_lab.check import catalogue, facts, words
from attention_lab.check.card import card
from attention_lab.check.causes import CAUSES, CERTAIN_CAUSES, FIRST_CAUSES, LAST_CAUSES, hiding
from attention_lab.check.evidence import Evidence
from attention_lab.check.judge import KINDS
from attention_lab.check.matching import Reading, keeping, matching, together
from attention_lab.check.mistake import Mistake

CERTAIN = (*facts.CERTAIN, *CERTAIN_CAUSES, *facts.CHANGED)
UNFORESEEN = (Exception,)  # an answer may be odder than all that was thought of here; () in tests


def diagnose(step, aspect, probes, observations, expected, verdict, ask) -> Mistake:
    """Return the Mistake that a wrong answer shows; it names a misconception only if one fits.

    ask: `ask(probes, mend="")` returns what the answer shows on other probes.
    """
    symptom = verdict.against(aspect)[0]
    if facts.is_unwritten(symptom):
        return Mistake(step, "shape", *words.UNWRITTEN)
    try:
        return explain(symptom, Evidence(step, probes, observations, expected, verdict, ask))
    except UNFORESEEN:
        seen = f"with {words.tried(step, symptom)}, {KINDS[symptom.kind]}."
        return Mistake(step, symptom.aspect, seen, *words.explained(step, symptom))


def explain(symptom, evidence) -> Mistake:
    """Return the Mistake of which `symptom` is the first to be told."""
    seen, shown = words.seen(evidence, symptom), card(evidence, symptom)
    readings = recognise(evidence)
    if not readings:
        means = words.meaning(evidence, symptom)
        return Mistake(evidence.step, symptom.aspect, seen, *means, card=shown)
    name, means = readings[0][0].slug, words.told(readings, evidence)
    others = [(reading[0].slug, *words.told([reading], evidence)) for reading in readings]
    return Mistake(evidence.step, symptom.aspect, seen, *means, name, shown, others=tuple(others))


def recognise(evidence) -> list[Reading]:
    """Return what fits, likeliest first: one reading, several, or none.

    What is done beside the numbers is named last where something else makes them wrong.
    """
    if certain := _first(evidence, CERTAIN):
        return certain
    if not evidence.faults:
        return _first(evidence, (*facts.BESIDE, facts.looped))
    beside = tuple(_signed(evidence, (*facts.BESIDE, facts.looped)))
    if not evidence.goes_wrong and beside:
        return [beside[:1]]
    readings = (
        keeping(evidence)
        or _first(evidence, FIRST_CAUSES)
        or matching(evidence)
        or _first(evidence, facts.SAID)
        or _first(evidence, CAUSES)
        or together(evidence)
        or _first(evidence, LAST_CAUSES)
        or _first(evidence, facts.OTHERS)
        or _beneath(evidence)
    )
    if not readings:
        return [beside[:1]] if beside else []
    return [(*reading, *(b for b in beside if b not in reading)) for reading in readings]


def _first(evidence, signatures):
    """The first thing that the signatures recognise as the only reading, or none."""
    return [(entry,) for entry in islice(_signed(evidence, signatures), 1)]


def _signed(evidence, signatures):
    """What the signatures recognise, one after the other."""
    for signature in signatures:
        found = signature(evidence) or ()
        slugs = (found,) if isinstance(found, str) else found
        yield from islice(
            filter(None, (catalogue.by_signature(evidence.step, s) for s in slugs)), 1
        )


def _beneath(evidence):
    """What makes it stop, and the known mistakes that are seen with that set right."""
    found = hiding(evidence)
    if not found:
        return []
    slug, seen = found
    entry = catalogue.by_signature(evidence.step, slug)
    beneath = matching(seen)
    if slug == "missing-contiguous":  # a copy alone would only hide what is beneath
        return [(*reading, entry) for reading in beneath] or [(entry,)]
    return [(entry, *reading) for reading in beneath] or [(entry,)]
