"""The known mistakes of every step. One file a step; adding one is adding one function."""

from attention_lab.check.catalogue import (
    attend,
    attention_scores,
    causal_mask,
    everywhere,
    masked_softmax,
    merge_heads,
    multi_head_attention,
    project,
    split_heads,
)
from attention_lab.check.catalogue.entry import Misconception

__all__ = ["Misconception", "explain", "of_step"]

_KNOWN = {
    module.known.step: module.known
    for module in (
        project,
        split_heads,
        attention_scores,
        causal_mask,
        masked_softmax,
        attend,
        merge_heads,
        multi_head_attention,
    )
}


def of_step(step: str) -> tuple[Misconception, ...]:
    """Return the known mistakes of `step`, in the order in which they are tried."""
    return tuple(_KNOWN[step].entries)


def explain(step: str, slug: str) -> Misconception:
    """Return the explanation of `slug` in `step`. Raises KeyError if there is none."""
    for entry in (*_KNOWN[step].entries, *everywhere.known.entries):
        if entry.slug == slug:
            return entry
    raise KeyError(f"no mistake {slug!r} is known in {step}")
