"""Builds the editions of every lesson: one text, three notebooks.

``lessons/<name>.py`` becomes ``source/<assignment>/<name>.ipynb`` (nbgrader's instructor version),
``release/<assignment>/<name>.ipynb`` (what students get) and ``notebooks/<name>.ipynb`` (for
Google Colab). ``python -m classroom.editions`` writes them.
"""

from classroom.editions.build import build, differences, place_package, write, write_executed
from classroom.editions.lesson import Lesson, LessonError, read_lesson

__all__ = [
    "Lesson",
    "LessonError",
    "build",
    "differences",
    "place_package",
    "read_lesson",
    "write",
    "write_executed",
]
