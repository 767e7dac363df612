"""What went wrong in a learner's function, in a line or two."""

from __future__ import annotations

import traceback
from pathlib import Path

from attention_lab.stub import NotWrittenYet

_THIS_PACKAGE = str(Path(__file__).parents[1])


def describe(error: Exception) -> str:
    """The error, and the last line of the learner's own code on the way to it."""
    if isinstance(error, NotWrittenYet):
        return str(error)
    text = f"{type(error).__name__}: {error}"
    own = [step for step in traceback.extract_tb(error.__traceback__) if _is_own(step.filename)]
    if not own:
        return text
    return f"{text}\nin {own[-1].name}, line {own[-1].lineno}: {own[-1].line}"


def _is_own(filename: str) -> bool:
    installed = "site-packages" in filename or "dist-packages" in filename
    return not installed and not filename.startswith(_THIS_PACKAGE)
