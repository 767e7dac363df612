"""The progress of the kernel that runs: its record, its file, its panel."""

import os
import sys
from pathlib import Path

from attention_lab.progress.exercises import read_exercises
from attention_lab.progress.page import Page
from attention_lab.progress.record import Record, load, save

FILE = "attention_lab_progress.json"
_PANEL = "attention-lab-progress"  # one display, wherever a panel stands


def shell():
    """IPython's shell where a kernel serves a notebook, else None."""
    try:
        found = get_ipython()
    except NameError:
        return None
    return found if hasattr(found, "kernel") else None


class Session:
    """A record, the file that keeps it (None: nothing is kept), and the exercises it is about."""

    def __init__(self, path: Path | None):
        self.path = path
        self.exercises = read_exercises()
        self.record = load(path) if path else Record()
        self._can_write = True

    @classmethod
    def of_this_kernel(cls) -> "Session":
        """The session of a learner's notebook. Grading keeps no record, and shows no panel."""
        in_class = shell() is not None and not os.environ.get("NBGRADER_EXECUTION")
        return cls(Path(FILE).resolve() if in_class else None)

    def note(self, step, aspect, hidden, mistake) -> None:
        """Take down a verdict; see `check.listen`."""
        self.record.note(step, aspect, hidden, mistake)
        self._keep()

    def note_answer(self, question: str, right: bool) -> None:
        """Take down an answer; see `quiz.listen`."""
        self.record.note_answer(question, right)
        self._keep()

    def forget(self, step: str) -> None:
        """Take a step's results back."""
        self.record.forget(step)
        self._keep()

    def page(self) -> Page:
        """What there is to show now."""
        return Page(self.exercises, self.record, self._kept())

    def show(self) -> None:
        """Show the panel, here and in its place at every later verdict."""
        if self.path:
            from IPython.display import display

            display(self.page(), display_id=_PANEL)

    def _keep(self):
        if self.path:
            from IPython.display import update_display

            self._can_write = save(self.record, self.path)
            update_display(self.page(), display_id=_PANEL)

    def _kept(self):
        if not self.path:
            return ""
        if not self._can_write:
            return "This folder cannot be written to: a restarted kernel begins anew."
        if "google.colab" in sys.modules:
            return (
                f"Kept in {self.path.name}, which lives as long as this runtime. To keep more, "
                "download the summary at the end."
            )
        return f"Kept in {self.path.name} beside this notebook: a restarted kernel goes on here."
