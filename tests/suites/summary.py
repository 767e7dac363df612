"""A pytest plugin: one line a suite at the end of the run, also with several workers.

A test of a suite notes what became of its answers, `note("mutants", "rejected")`; the notes travel
with the test's report and are counted here.
"""

from collections import Counter

import pytest

LINES = {
    "bank": "{right} right, {right rejected} rejected; {wrong} wrong, {wrong accepted} accepted, "
    "{named} named, {misnamed} misnamed",
    "mutants": "{rejected} rejected, {equal} equal on 1,000 random inputs, {accepted} accepted",
    "random right answers": "{right} right, {rejected} rejected",
    "seeds": "{verdicts} verdicts, {changed} changed",
    "hostile": "{attacks} attacks, {gained} gained points; "
    "{honest} honest controls, {short} lost points",
}
PROPERTY = "suite"


@pytest.fixture
def note(record_property):
    """A function that notes what became of one answer, `note(suite, what)`."""
    return lambda suite, what: record_property(PROPERTY, (suite, what))


@pytest.hookimpl
def pytest_terminal_summary(terminalreporter):
    notes = Counter(
        tuple(value)
        for reports in terminalreporter.stats.values()
        for report in reports
        if getattr(report, "when", None) == "call"
        for name, value in report.user_properties
        if name == PROPERTY
    )
    for suite, line in LINES.items():
        counts = Counter({what: n for (of, what), n in notes.items() if of == suite})
        if counts:
            terminalreporter.write_line(f"{suite}: {line.format_map(counts)}")
