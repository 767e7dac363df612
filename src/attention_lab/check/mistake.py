"""What a learner reads when a check fails."""

import textwrap

WIDTH = 88  # a cell of a notebook, or of a feedback page
MAX_LINES = 6  # and one that says where
ELLIPSIS = " \N{HORIZONTAL ELLIPSIS}"


class Mistake(AssertionError):
    """A failed check: what was seen, what it means, where to look.

    step: the name of the answer. aspect: "shape" | "value" | "manner".
    misconception: the slug of the mistake that was recognised, or None.
    card: HTML that a notebook shows above the message, or "".
    lines: where one small change of the learner's own code makes it right: (number, text) of one
    line of its cell or of several, any of which will do; () where that is not known.
    others: (misconception, means, look) of each of several mistakes that look the same by itself.
    """

    def __init__(
        self, step, aspect, seen, means, look, misconception=None, card="", lines=(), others=()
    ):
        super().__init__(step, aspect, seen, means, look, misconception)
        self.step = step
        self.aspect = aspect
        self.seen = seen
        self.means = means
        self.look = look
        self.misconception = misconception
        self.card = card
        self.lines = lines
        self.others = others

    def __copy__(self):
        """Only what it says: a library may have taught `copy` to keep an exception's frames."""
        return type(self)(*self.args, self.card, self.lines, self.others)

    def __str__(self):
        means = _wrapped(f"  Means: {self.means}") if self.means else []
        look = _wrapped(f"  Look:  {self.look}") if self.look else []
        where = [f"  Where: {self.where}"] if self.where else []
        room = max(1, MAX_LINES - len(means) - len(look))
        seen = _wrapped(f"{self.step}: {self.seen}", max_lines=room, placeholder=ELLIPSIS)
        return "\n".join([*seen, *means, *look, *where])

    @property
    def where(self) -> str:
        """The lines in words, or ""."""
        length = (WIDTH - 10) // max(1, len(self.lines)) - 14
        return " or ".join(f"line {n}: `{_short(text, length)}`" for n, text in self.lines)

    def _render_traceback_(self):
        self._show_card()
        return [f"\N{BALLOT X} {self}"]

    def _show_card(self):
        """Show the card, once, where a kernel hands pictures on to a page."""
        card, self.card = self.card, ""
        if card and is_in_notebook():
            from IPython.display import HTML, display

            display(HTML(card))


def is_in_notebook():
    try:
        shell = get_ipython()
    except NameError:
        return False
    return hasattr(shell, "kernel")


def _wrapped(text, **options):
    return textwrap.wrap(text, WIDTH, subsequent_indent=" " * 9, break_long_words=False, **options)


def _short(text, length):
    return text if len(text) <= length else text[: length - 1].rstrip() + ELLIPSIS.strip()
