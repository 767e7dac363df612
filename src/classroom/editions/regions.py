"""The marked regions of a cell: ``### BEGIN SOLUTION``, ``### BEGIN HIDDEN TESTS``."""

import re
from textwrap import dedent

SOLUTION = "SOLUTION"
HIDDEN_TESTS = "HIDDEN TESTS"

_MARKER = re.compile(rf"^[ \t]*### (BEGIN|END) ({SOLUTION}|{HIDDEN_TESTS})[ \t]*$")


def regions(source: str, kind: str) -> list[str]:
    """The dedented text of every region of this kind.

    Raises:
        ValueError: a marker without its partner, or one that is written in another way.
    """
    found, lines = [], None
    for line in source.splitlines():
        marker = _MARKER.match(line)
        if marker is None and has_marker(line):
            raise ValueError(f"`{line.strip()}` is no marker; write ### BEGIN ... or ### END ...")
        if marker is None or marker[2] != kind:
            if lines is not None:
                lines.append(line)
        elif (marker[1] == "BEGIN") != (lines is None):
            raise ValueError(f"`{line.strip()}` has no partner")
        elif marker[1] == "BEGIN":
            lines = []
        else:
            found.append(dedent("\n".join(lines)))
            lines = None
    if lines is not None:
        raise ValueError(f"`### BEGIN {kind}` has no partner")
    return found


def has_marker(source: str) -> bool:
    """Whether any line is, or looks much like, one of the markers."""
    return re.search(r"(BEGIN|END) (SOLUTION|HIDDEN TESTS)", source) is not None


def without_markers(source: str) -> str:
    """The source as a reader wants it: regions kept, their markers gone."""
    return "\n".join(line for line in source.splitlines() if not _MARKER.match(line))


def without_regions(source: str, kind: str) -> str:
    """The source without the regions of this kind, and without their markers."""
    kept, inside = [], False
    for line in source.splitlines():
        marker = _MARKER.match(line)
        if marker and marker[2] == kind:
            inside = marker[1] == "BEGIN"
        elif not inside:
            kept.append(line)
    return "\n".join(kept)
