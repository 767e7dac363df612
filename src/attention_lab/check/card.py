"""The card beside a message in a notebook: two shapes side by side, and the learner's own result.

One piece of static HTML with inline styles, readable on light and on dark pages, without scripts.
It repeats no sentence of the message, and shows nothing of the right result but its shape, and of
scores that only lack their scale how far apart they would be.
"""

from attention_lab.check import steps
from attention_lab.check.figures import box, figure, label, source


def card(evidence, symptom) -> str:
    """Return the HTML of the card for what was seen, or "" where there is nothing to show."""
    trial = next(
        (t for t in evidence.trials if t.probe is symptom.probe and t.index == symptom.call), None
    )
    if trial is None or not trial.got or symptom.aspect == "manner":
        return ""
    figures = (
        steps.of(evidence.step).picture(trial) if trial.has_right_shape else _shapes(trial, symptom)
    )
    if not figures:
        return ""
    style = "display:flex;flex-wrap:wrap;gap:.5em 1.5em;margin:.3em 0"
    return f'<div style="{style}">{"".join(figures)}</div>'


def code(lines, marked) -> str:
    """Return the HTML of some lines of a learner's code, (number, text) each, those of which the
    numbers are `marked` in a thick border."""
    rows = [[label(number), source(text, number in marked)] for number, text in lines]
    return figure("one small change here makes every trial right", rows)


def _shapes(trial, symptom):
    """Both shapes, a box for each axis; one that does not fit has a thick border and a sign."""
    if symptom.kind != "shape":
        return []
    got, wanted = next(
        (g.shape, w.shape)
        for g, w in zip(trial.got, trial.wanted, strict=True)
        if g.shape != w.shape
    )
    fits = [i < len(wanted) and size == wanted[i] for i, size in enumerate(got)]
    came = [
        box(size, "" if fit else " \N{NOT EQUAL TO}") for size, fit in zip(got, fits, strict=True)
    ]
    names = steps.of(trial.probe.step).axes
    named = [box(f"{size} {name}") for size, name in zip(wanted, names, strict=True)]
    return [figure("came back", [came or [box("one number")]]), figure("wanted", [named])]
