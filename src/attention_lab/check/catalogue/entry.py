"""A known mistake: what to tell whoever made it, and small faulty implementations of it."""

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import permutations

SECTION = re.compile(r"^(Look|Seen in): ", re.MULTILINE)


@dataclass
class Misconception:
    """A kind of mistake in one step.

    slug: its name, as in tests/bank/KINDS.md. means: what it shows that the learner believes.
    look: where to look next. seen_in: public code in which it was met, as "owner/repo#number".
    faulty: answers that make it; none where it is proven in another way. kept: functions that make
    such an answer, where it keeps something from one call to the next.
    """

    slug: str
    step: str
    means: str
    look: str
    seen_in: tuple[str, ...] = ()
    faulty: tuple[Callable, ...] = ()
    kept: tuple[Callable, ...] = ()


@dataclass(frozen=True)
class Fitted:
    """A faulty answer with a number in it that is read off one trial and has to fit all others.

    make: the answer for a number. read: the number that a trial shows, or None.
    """

    make: Callable
    read: Callable


def in_other_axes(right, dims, but=(), apart=()):
    """Return answers whose results are those of `right` with the axes in any other order, or with
    two neighbours made one after that. but: orders that are left out. apart: two axes, as `right`
    counts them, that are not made one."""

    def moved(order, joined):
        def faulty(*args):
            result = right(*args).permute(order)
            return result if joined is None else result.flatten(joined, joined + 1)

        return faulty

    return [
        moved(order, joined)
        for joined in (None, *range(dims - 1))
        for order in permutations(range(dims))
        if (joined is not None or order != tuple(range(dims)))
        and order not in but
        and (joined is None or order[joined : joined + 2] != apart)
    ]


class Known:
    """The known mistakes of one step, in the order in which they are tried.

    `@known("slug")` above a faulty answer adds one; its docstring is the explanation: what it
    means, then a line "Look: ...", then perhaps a line "Seen in: owner/repo#number, ...".
    `known.variants("slug", ...)` adds other ways to make the mistake that was added last under that
    name, `known.kept("slug", ...)` functions that make such an answer, and
    `known.behaviour("slug", text)` one that needs no implementation.

    whole: an answer that takes parts of itself as keywords, and is right without them. With
    `part=...` the function below `@known`, or a variant, is that part of it; mistakes in different
    parts are also looked for together.
    """

    def __init__(self, step, whole=None):
        self.step = step
        self._whole = whole
        self._entries = []

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
        self._entries.append(
            Misconception(slug, self.step, _one_line(means), parts["Look"], seen_in)
        )

    def variants(self, slug, *faulty, part=None):
        if part:
            faulty = [partial(self._whole, **{part: one}) for one in faulty]
        self._last(slug).faulty += tuple(faulty)

    def kept(self, slug, *makers):
        self._last(slug).kept += makers

    def _last(self, slug):
        return next(entry for entry in reversed(self._entries) if entry.slug == slug)

    def take_over(self, other, *, without=(), changed):
        """Add what `other` knows, each faulty answer `changed` for this step; explanations that
        this step has of its own stay."""
        own = {entry.slug: entry for entry in reversed(self._entries)}
        for entry in other:
            mine = own.get(entry.slug)
            if entry.slug in without or (mine and not entry.faulty):
                continue
            if mine is None:
                mine = Misconception(entry.slug, self.step, entry.means, entry.look, entry.seen_in)
                self._entries.append(mine)
            elif not mine.faulty:
                self._entries.remove(mine)
                self._entries.append(mine)
            mine.faulty += tuple(changed(f) for f in entry.faulty if not isinstance(f, Fitted))

    def __iter__(self):
        return iter(self._entries)


def _one_line(text):
    return " ".join(text.split())
