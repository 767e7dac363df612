"""Relations between words that a head may have learned, each with sentences to measure it on.

Sentences are written as words with a blank between them. All words are single tokens of the
model, so that word ``i`` is token ``i + 1``, after ``[CLS]``.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

# d: a determiner whose noun is the next n; v: a verb whose object is the next n.
_TAGGED = (
    "the/d hungry dog/n found/v a/d large bone/n .",
    "my sister wrote/v a/d long letter/n .",
    "a/d young doctor/n opened/v the/d heavy door/n .",
    "the/d old farmer/n sold/v the/d white horse/n .",
    "the/d careful driver/n watched/v the/d narrow road/n .",
    "a/d strong wind/n moved/v the/d little boat/n .",
    "the/d curious child/n asked/v a/d difficult question/n .",
    "the/d new teacher/n read/v a/d funny story/n .",
    "a/d brave soldier/n carried/v the/d heavy bag/n .",
    "the/d whole family/n painted/v the/d small kitchen/n .",
)
_WITH_REPEATS = (
    "the cat likes the other cat .",
    "the dog saw another dog near the house beside our house .",
    "we know that you know the answer .",
    "rain in the morning means rain in the evening .",
    "the city of gold was older than the city of stone .",
)
_WOMEN = ("Mary", "Anna", "Susan", "Linda", "Emma")
_MEN = ("John", "Peter", "David", "Robert", "Tom")
_EVENTS = (("thanked", "because {} was happy ."), ("called", "after {} came home ."))


@dataclass(frozen=True)
class Case:
    """A sentence as words, and pairs (from, to) of word positions that stand in the relation."""

    words: tuple[str, ...]
    pairs: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Rivals:
    """A sentence in which the word at `pronoun` means the word at `right`, not that at `wrong`."""

    words: tuple[str, ...]
    pronoun: int
    right: int
    wrong: int


def relations() -> dict[str, list[Case]]:
    """Every relation by its name, with its cases."""
    sentences = [_parse(text) for text in _TAGGED]
    plain = [words for words, _ in sentences]
    repeats = [tuple(text.split()) for text in _WITH_REPEATS]
    return {
        "previous token": [_shifted(words, -1) for words in plain],
        "next token": [_shifted(words, +1) for words in plain],
        "same word": [_repeated(words) for words in repeats],
        "determiner → noun": [Case(words, _to_noun(tags, "d")) for words, tags in sentences],
        "verb → object": [Case(words, _to_noun(tags, "v")) for words, tags in sentences],
        "full stop": [Case(words, _to_last(words)) for words in plain],
    }


def pronouns() -> list[Rivals]:
    """All sentences of the kind "Mary thanked John because he was happy"."""
    people = [*itertools.product(_WOMEN, _MEN), *itertools.product(_MEN, _WOMEN)]
    return [
        _rivals(pair, verb, ending.format(pronoun))
        for pair, (verb, ending), pronoun in itertools.product(people, _EVENTS, ("she", "he"))
    ]


def _rivals(pair, verb, ending) -> Rivals:
    words = (pair[0], verb, pair[1], *ending.split())
    means = _WOMEN if "she" in words else _MEN
    right, wrong = (0, 2) if pair[0] in means else (2, 0)
    return Rivals(words, 4, right, wrong)


def _parse(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Words and their tags, "" for a word without one."""
    parts = [word.partition("/") for word in text.split()]
    return tuple(word for word, _, _ in parts), tuple(tag for _, _, tag in parts)


def _shifted(words, step) -> Case:
    positions = range(len(words))
    return Case(words, tuple((i, i + step) for i in positions if i + step in positions))


def _repeated(words) -> Case:
    both_ways = itertools.permutations(range(len(words)), 2)
    return Case(words, tuple((i, j) for i, j in both_ways if words[i] == words[j]))


def _to_noun(tags, tag) -> tuple[tuple[int, int], ...]:
    return tuple((i, tags.index("n", i)) for i, found in enumerate(tags) if found == tag)


def _to_last(words) -> tuple[tuple[int, int], ...]:
    return tuple((i, len(words) - 1) for i in range(len(words) - 1))
