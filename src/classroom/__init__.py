"""What a teaching assistant runs: the editions, the grading, the reports."""

from classroom.config import configure

__all__ = ["configure"]
