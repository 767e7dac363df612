"""Stands for `attention_lab.check` inside the sandbox, where nothing may know what is right.

The checks that count run outside. In there, a check says so and does nothing.
"""

from attention_lab.check.mistake import Mistake

STEPS = ()

__all__ = ["STEPS", "Mistake"]


def __getattr__(name):
    if name.startswith("_"):
        raise AttributeError(name)

    def not_here(*args, **kwargs):
        print(f"check.{name} is not run in this cell while grading: the graded cells judge.")

    return not_here
