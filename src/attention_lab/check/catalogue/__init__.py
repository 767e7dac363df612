"""The known mistakes of every step and exercise. Adding one is adding one function."""

from attention_lab.check.catalogue import (
    attend,
    attention_scores,
    causal_mask,
    everywhere,
    exercises,
    masked_softmax,
    merge_heads,
    multi_head_attention,
    project,
    split_heads,
)
from attention_lab.check.catalogue.entry import Misconception

__all__ = ["Misconception", "explain", "of_step"]

_OF_STEP = {
    known.step: tuple(known)
    for known in (
        project.known,
        split_heads.known,
        attention_scores.known,
        causal_mask.known,
        masked_softmax.known,
        attend.known,
        merge_heads.known,
        multi_head_attention.known,
        *exercises.ALL,
    )
}
_EVERYWHERE = tuple(everywhere.known)


def of_step(step: str) -> tuple[Misconception, ...]:
    """Return the known mistakes of a step or exercise, in the order in which they are tried."""
    return _OF_STEP[step]


def explain(step: str, slug: str) -> Misconception | None:
    """Return what is known of mistake `slug` in `step`: of that step, else of any; else None."""
    known = (*_OF_STEP[step], *_EVERYWHERE)
    return next((entry for entry in known if entry.slug == slug), None)
