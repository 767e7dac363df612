"""A known mistake: what to tell whoever made it, and small faulty implementations of it."""

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

SECTION = re.compile(r"^(Look|Seen in): ", re.MULTILINE)


@dataclass(frozen=True)
class Misconception:
    """A kind of mistake in one step.

    slug: its name, as in tests/bank/KINDS.md. means: what it shows that the learner believes.
    look: where to look next. seen_in: public code in which it was met, as "owner/repo#number".
    faulty: answers that make it, none where it is recognised by how an answer behaves.
    """

    slug: str
    step: str
    means: str
    look: str
    seen_in: tuple[str, ...] = ()
    faulty: tuple[Callable, ...] = ()


class Known:
    """The known mistakes of one step, in the order in which they are tried.

    `@known("slug")` above a faulty answer adds one; its docstring is the explanation: what it
    means, then a line "Look: ...", then perhaps a line "Seen in: owner/repo#number, ...".
    `known.variants("slug", ...)` adds other ways to make the same mistake, and
    `known.behaviour("slug", text)` one that needs no implementation.

    whole: an answer that takes parts of itself as keywords, and is right without them. With
    `part=...` the function below `@known`, or a variant, is that part of it; mistakes in different
    parts are also looked for together.
    """

    def __init__(self, step, whole=None):
        self.step = step
        self._whole = whole
        self._explained = {}
        self._faulty = {}

    def __call__(self, slug, *, part=None):
        def add(faulty):
            self.behaviour(slug, faulty.__doc__)
            self.variants(slug, faulty, part=part)
            return faulty

        return add

    def behaviour(self, slug, text):
        means, *rest = SECTION.split(inspect.cleandoc(text))
        parts = {name: _one_line(body) for name, body in zip(rest[::2], rest[1::2], strict=True)}
        seen_in = tuple(filter(None, parts.get("Seen in", "").split(", ")))
        self._explained[slug] = (_one_line(means), parts["Look"], seen_in)

    def variants(self, slug, *faulty, part=None):
        if part:
            faulty = [partial(self._whole, **{part: one}) for one in faulty]
        self._faulty.setdefault(slug, []).extend(faulty)

    def take_over(self, other, *, without=(), changed):
        """Add what `other` knows, each faulty answer `changed` for this step; explanations that
        this step has of its own stay."""
        for entry in other:
            if entry.slug not in without:
                explanation = (entry.means, entry.look, entry.seen_in)
                self._explained.setdefault(entry.slug, explanation)
                self.variants(entry.slug, *map(changed, entry.faulty))

    def __iter__(self):
        for slug, explanation in self._explained.items():
            yield Misconception(slug, self.step, *explanation, tuple(self._faulty.get(slug, ())))


def _one_line(text):
    return " ".join(text.split())
