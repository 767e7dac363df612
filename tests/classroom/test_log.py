import logging

import pytest

from classroom.log import make_harmless


@pytest.fixture
def logged():
    """`logged(text, *arguments)`: what a log shows of it."""
    logger, shown = logging.Logger("any"), []
    handler = logging.Handler()
    handler.emit = lambda record: shown.append((record.getMessage(), record.args))
    logger.addHandler(handler)
    make_harmless(logger)
    make_harmless(logger)

    def logged(*arguments):
        logger.warning(*arguments)
        return shown.pop()

    return logged


def test_control_characters_are_shown_as_such(logged):
    message, arguments = logged("Copying %s", "a\x1b[31m\udcff")
    assert message == "Copying a\ufffd[31m\ufffd"
    assert arguments == ("a\x1b[31m\udcff",), "what it was made of stays for who asks"


def test_lines_of_tracebacks_stay(logged):
    assert logged("a\n\tb") == ("a\n\tb", ())
