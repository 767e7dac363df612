"""A pytest plugin: one line a suite at the end of the run, also with several workers.

A test of a suite notes what became of its answers, `note("mutants", "rejected")`; the notes travel
with the test's report and are added up here.
"""

from collections import Counter
from itertools import chain

import pytest

LINES = {
    "bank": "{right} right, {right rejected} rejected; {wrong} wrong, {wrong accepted} accepted, "
    "{named} named, {misnamed} misnamed",
    "mutants": "{rejected} rejected, {equal} equal on 1,000 random inputs, {accepted} accepted",
    "lines": "{rejected} mutants rejected, the line shown for {shown}, the right one for {known}; "
    "{slips} slips of the bank, shown for {shown of the bank}",
    "values": "{rejected} rejected, {accepted} accepted; {right} right, {right rejected} rejected",
    "random right answers": "{right} right, {rejected} rejected",
    "seeds": "{verdicts} verdicts, {changed} changed",
    "hostile": "{attacks} attacks, {gained} gained points; "
    "{honest} honest controls, {short} lost points",
    "mangled": "{graded} graded, {points lost} lost points, {points gained} gained points; "
    "{not graded} not graded, each with its reason; {silent} without a word",
    "Colab's set-up": "{cells} cells, {kB} kB, of which {first} kB are loaded by the first cell",
    "newer Pythons, without torch": "{tried} tried, {missing} not found here",
}
PROPERTY = "suite"


@pytest.fixture
def note(record_property):
    """A function that notes what became of an answer, or of several: `note(suite, what, 3)`."""
    return lambda suite, what, count=1: record_property(PROPERTY, (suite, what, count))


@pytest.hookimpl
def pytest_terminal_summary(terminalreporter):
    notes = Counter()
    for report in chain.from_iterable(terminalreporter.stats.values()):
        for name, value in getattr(report, "user_properties", ()):
            if name == PROPERTY and report.when == "call":
                suite, what, count = value
                notes[suite, what] += count
    for suite, line in LINES.items():
        counts = Counter({what: n for (of, what), n in notes.items() if of == suite})
        if counts:
            terminalreporter.write_line(f"{suite}: {line.format_map(counts)}")
