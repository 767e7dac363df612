"""What a teaching assistant runs: the editions, the grading, the reports."""

__all__ = ["configure"]


def configure(c) -> None:
    """Set up nbgrader for the assignments built on `attention_lab`; see `classroom.config`."""
    from classroom.config import configure  # nbgrader takes seconds; the workers do without

    configure(c)
