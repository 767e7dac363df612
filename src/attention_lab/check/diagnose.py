"""From a verdict to words: what was seen, which misconception it shows, where to look."""

from attention_lab.check.mistake import Mistake


def diagnose(step, aspect, probes, observations, expected, verdict):
    s = verdict.against(aspect)[0]
    return Mistake(step, s.aspect, f"{s.kind} {s.probe.about} {s.got} {s.wanted}", "", "")
