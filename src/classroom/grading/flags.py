"""What a human should look at in a submission. A flag costs nothing."""

import io
import tokenize
from itertools import pairwise

SUSPICIOUS = frozenset(
    {
        "MultiheadAttention", "TransformerEncoderLayer", "TransformerDecoderLayer",
        "multi_head_attention_forward", "scaled_dot_product_attention",
        "_C", "ctypes", "gc", "jit", "multiprocessing", "subprocess", "threading", "_thread",
    }
)  # fmt: skip


def mentions(source: str) -> set[str]:
    """The suspicious names that a cell's code mentions; comments and texts do not count."""
    if not any(name in source for name in (*SUSPICIOUS, "attention_lab")):
        return set()  # as nearly always, and at once: tokens take long
    names = list(_names(source))
    found = SUSPICIOUS.intersection(names)
    if any(pair == ("attention_lab", "check") for pair in pairwise(names)):
        found = found | {"attention_lab.check"}
    return set(found)


def flags(cells: list[str], given: frozenset[str], changed: tuple[str, ...]) -> list[str]:
    """What to look at, in words.

    cells: a submission's code; given: the course's own code. changed: what the submission changed
    about the process that hosts it.
    """
    written = (mentions(source) for source in cells if source not in given)
    found = [f"mentions {name}" for name in sorted(set().union(*written))]
    return found + [f"changed its host's {thing}" for thing in changed]


def _names(source):
    lines = io.StringIO(source).readline
    try:
        for token in tokenize.generate_tokens(lines):
            if token.type == tokenize.NAME:
                yield token.string
    except (tokenize.TokenError, SyntaxError):
        return
