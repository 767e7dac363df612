"""From a verdict to words: what was seen, which misconception it shows, where to look."""

from attention_lab.check import catalogue, words
from attention_lab.check.card import card
from attention_lab.check.evidence import Evidence
from attention_lab.check.judge import KINDS
from attention_lab.check.matching import matching
from attention_lab.check.mistake import Mistake
from attention_lab.check.references import STEPS
from attention_lab.check.signatures import ANYWHERE, CERTAIN, OTHERS, reads_globals

UNWRITTEN = ("NotWrittenYet", "NotImplementedError")


def diagnose(step, aspect, probes, observations, expected, verdict) -> Mistake:
    """Return the Mistake that a wrong answer shows; it names a misconception only if one fits."""
    symptom = verdict.against(aspect)[0]
    if getattr(symptom.got, "type", "") in UNWRITTEN:
        return Mistake(step, "shape", *words.UNWRITTEN)
    try:
        return _explained(symptom, Evidence(step, probes, observations, expected, verdict))
    except Exception:  # an answer may be odder than all that was thought of here
        seen = f"with {words.tried(step, symptom)}, {KINDS[symptom.kind]}."
        return Mistake(step, symptom.aspect, seen, *words.MEANING[symptom.kind])


def _explained(symptom, evidence):
    step = evidence.step
    seen, shown = words.seen(evidence, symptom), card(evidence, symptom)
    known = recognise(evidence)
    if not known:
        return Mistake(step, symptom.aspect, seen, *words.meaning(symptom), card=shown)
    first, *others = known
    means = words.means(first, others)
    return Mistake(step, symptom.aspect, seen, means, first.look, first.slug, shown)


def recognise(evidence) -> list[catalogue.Misconception]:
    """Return the misconceptions that fit, likeliest first: one, several, or none."""
    others = OTHERS if evidence.step in STEPS else ANYWHERE
    known = _signed(evidence, CERTAIN) or matching(evidence) or _signed(evidence, others)
    if known and known[0].slug == "hard-coded-size":  # perhaps in a variable
        return _signed(evidence, [reads_globals]) or known
    return known


def _signed(evidence, signatures):
    for signature in signatures:
        if entry := catalogue.explain(evidence.step, signature(evidence)):
            return [entry]
    return []
