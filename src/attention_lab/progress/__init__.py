"""How far a learner has come; an exercise as it was; a page to keep.

progress.panel()               # a table that every check brings up to date
progress.reset("split_heads")  # in an exercise's own cell: the stub comes back
progress.solution("attend")    # one way to write it, in the self-learner's edition
progress.summary()             # the same table, with a link that downloads it
"""

import os

from attention_lab import check, quiz
from attention_lab.progress.page import Summary
from attention_lab.progress.session import Session, shell
from attention_lab.progress.solutions import Solution, read_solutions

__all__ = ["panel", "reset", "solution", "summary"]

_session = Session.of_this_kernel()
if _session.path:
    check.listen(_session.note)
    quiz.listen(_session.note_answer)


def panel() -> None:
    """Show which steps pass, the points so far, and what to review; every check updates it."""
    _session.show()


def summary() -> Summary | None:
    """The panel as it is now, with a link that downloads it; `print` shows it as plain text.

    None while the notebook is being graded: nothing is kept then, and feedback has the points.
    """
    return None if os.environ.get("NBGRADER_EXECUTION") else Summary(_session.page())


def reset(name: str) -> None:
    """Replace the cell that runs this by the exercise of that name, as it was at first.

    Raises:
        ValueError: there is no such exercise.
    """
    exercises = _session.exercises
    if name not in exercises:
        raise ValueError(f"there is no exercise {name!r}; there are {', '.join(exercises)}")
    _session.forget(name)
    notebook = shell()
    if notebook is None:
        print(exercises[name].stub)
        return
    notebook.set_next_input(exercises[name].stub, replace=True)
    print(
        f"Here is {name} as it was; Undo in the cell brings your text back.\n"
        "If you ran this in another cell, move the code into the exercise's own cell. "
        "Only that one is graded."
    )


def solution(name: str) -> Solution:
    """One way to write the exercise of that name; `print` shows it as plain text.

    The self-learner's edition calls it below each exercise's last check, where it is reached only
    by an answer that passes.

    Raises:
        ValueError: this edition brings no solution of that name.
    """
    solutions = read_solutions()
    if name not in solutions:
        known = ", ".join(solutions) or "none"
        raise ValueError(f"this edition brings no solution of {name!r}; it brings {known}")
    return solutions[name]
