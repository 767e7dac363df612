"""What a command of nbgrader's logged."""

import logging


class Said(logging.Handler):
    """Keeps what was logged, in `lines`."""

    def __init__(self):
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())
