"""Keeps names that strangers chose from steering the terminal that nbgrader's log is read in."""

from logging import Logger, LogRecord

from classroom.files import printable


def make_harmless(logger: Logger) -> None:
    """Have every line of a log show control characters and halves of letters as such."""
    logger.addFilter(_harmless)  # a second time does nothing


def _harmless(record: LogRecord) -> bool:
    text = record.getMessage()
    shown = "".join(c if c in "\n\t" else printable(c) for c in text)
    if shown != text:
        record.getMessage = lambda: shown  # what it was made of stays for who asks
    return True
