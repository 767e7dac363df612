"""What went wrong in a learner's function, in a line or two."""

from __future__ import annotations

import traceback
from pathlib import Path

from attention_lab.stub import NotWrittenYet

_THIS_PACKAGE = str(Path(__file__).parents[1])


def describe(error: Exception) -> str:
    """The error, and the last line of the learner's own code on the way to it.

    What this package says to the learner stands by itself.
    """
    steps = traceback.extract_tb(error.__traceback__)
    if isinstance(error, NotWrittenYet) or (steps and _is_ours(steps[-1].filename)):
        return str(error)
    text = f"{type(error).__name__}: {error}"
    own = [step for step in steps if _is_own(step.filename)]
    if not own:
        return text
    return f"{text}\nin {own[-1].name}, line {own[-1].lineno}: {own[-1].line}"


def _is_ours(filename: str) -> bool:
    return filename.startswith(_THIS_PACKAGE)


def _is_own(filename: str) -> bool:
    installed = "site-packages" in filename or "dist-packages" in filename
    return not installed and not _is_ours(filename)
