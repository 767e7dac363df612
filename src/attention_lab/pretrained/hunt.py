"""Hunt the head: which of the 72 does what? The answers were measured with ``tally``."""

from __future__ import annotations

from attention_lab.quiz import Card, Option, Question, Quiz

_OTHERWISE = {
    "L0.H2": "That one looks at the token before, whatever it is.",
    "L1.H8": "That one looks at the token after, whatever it is.",
    "L1.H3": "That one helps he and she. Look at a sentence without a pronoun.",
    "L2.H8": "That one leads from a determiner to its noun, also across an adjective.",
    "L2.H9": "That one finds the same word again, unless it rests on `[CLS]`.",
    "L3.H11": "That one looks at the full stop, from everywhere.",
    "L0.H4": "That one leads from a verb to its object.",
    "L2.H7": "That one rests on `[CLS]` most of the time.",
}


def _question(ask: str, right: str, why: str, wrong: tuple[str, ...]) -> Question:
    options = [Option(head, why=_OTHERWISE[head]) for head in wrong]
    return Question(ask, (Option(right, right=True, why=why), *options))


HUNT = {
    "previous token": _question(
        "Which head looks at the previous token?",
        "L0.H2",
        "100 % of its weight lies there. Your first head, by hand, had the same job.",
        ("L1.H8", "L2.H7", "L3.H11"),
    ),
    "next token": _question(
        "Which head looks at the next token?",
        "L1.H8",
        "61 % of its weight lies there. No other head comes near.",
        ("L0.H2", "L2.H9", "L3.H11"),
    ),
    "same word": _question(
        "Which head finds the other places where the same word occurs?",
        "L2.H9",
        "29 % of its weight lies there. That is the best, and not much: a soft job.",
        ("L0.H2", "L1.H8", "L3.H11"),
    ),
    "determiner → noun": _question(
        "In “the old cabinet”, which head leads from `the` to `cabinet`?",
        "L2.H8",
        "54 % of a determiner's weight lies on its noun, although most have an adjective between. "
        "(L3.H1 is nearly as good, with 53 %.)",
        ("L0.H2", "L2.H7", "L3.H11"),
    ),
    "verb → object": _question(
        "In “the driver watched the road”, which head leads from `watched` to `road`?",
        "L0.H4",
        "44 % of a verb's weight lies on its object.",
        ("L0.H2", "L2.H7", "L2.H9"),
    ),
    "full stop": _question(
        "Which head looks at the full stop, from all over the sentence?",
        "L3.H11",
        "37 % of its weight lies there. A full stop is a place to rest, as `[CLS]` is.",
        ("L0.H4", "L1.H8", "L2.H9"),
    ),
    "he, she → name": _question(
        "In “Mary thanked John because he was happy”, which head gives the right name more weight "
        "than the other?",
        "L1.H3",
        "It does so in 98 % of 200 such sentences. (So does L4.H5, which was not on offer.)",
        ("L0.H2", "L1.H8", "L3.H11"),
    ),
}


def hunt() -> Card:
    """Seven heads to find. A wrong guess comes again."""
    return Card(Quiz("hunt", HUNT.values()))
