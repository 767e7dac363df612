"""A known mistake: a small faulty implementation, and what to tell whoever made it."""

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass

SECTION = re.compile(r"^(Look|Seen in): ", re.MULTILINE)


@dataclass(frozen=True)
class Misconception:
    """A kind of mistake in one step.

    slug: its name, as in tests/bank/KINDS.md. means: what it shows that the learner believes.
    look: where to look next. seen_in: public code in which it was met, as "owner/repo#number".
    faulty: an answer that makes it, or None where no implementation is needed to recognise it.
    """

    slug: str
    step: str
    means: str
    look: str
    seen_in: tuple[str, ...] = ()
    faulty: Callable | None = None


class Known:
    """The known mistakes of one step, in the order in which they are tried.

    `@known("slug")` above a faulty answer adds it; its docstring is the explanation: what it means,
    then a line "Look: ...", then perhaps a line "Seen in: owner/repo#number, ...". A variant of the
    same mistake needs no docstring. `known.sign("slug", text)` adds one without an implementation.
    """

    def __init__(self, step):
        self.step = step
        self.entries = []

    def __call__(self, slug):
        def add(faulty):
            self._add(slug, faulty.__doc__, faulty)
            return faulty

        return add

    def sign(self, slug, text):
        self._add(slug, text, None)

    def _add(self, slug, text, faulty):
        texts = self._parsed(text) if text else self.explain(slug)
        self.entries.append(Misconception(slug, self.step, *texts, faulty))

    def explain(self, slug):
        """Return means, look and seen_in of the first entry called `slug`."""
        first = next(entry for entry in self.entries if entry.slug == slug)
        return first.means, first.look, first.seen_in

    @staticmethod
    def _parsed(text):
        means, *rest = SECTION.split(inspect.cleandoc(text))
        parts = {
            name: " ".join(body.split()) for name, body in zip(rest[::2], rest[1::2], strict=True)
        }
        seen_in = tuple(filter(None, parts.get("Seen in", "").split(", ")))
        return " ".join(means.split()), parts["Look"], seen_in
