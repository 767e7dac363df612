"""The steps and exercises that there are. A new one is a file here and a line in its list.

`steps.split_heads(x, num_heads)` is what is right; `steps.of("split_heads")` all that is known.
"""

from attention_lab.check.steps import (
    attend,
    attend_next,
    attention_scores,
    causal_mask,
    cross_attention,
    grouped_attention,
    masked_softmax,
    mended_attention,
    merge_heads,
    multi_head_attention,
    one_head,
    one_query,
    padded_softmax,
    project,
    split_heads,
)

# In the order in which they are taught.
GRADED = (
    project.STEP,
    split_heads.STEP,
    attention_scores.STEP,
    causal_mask.STEP,
    masked_softmax.STEP,
    attend.STEP,
    merge_heads.STEP,
    multi_head_attention.STEP,
)
EXERCISES = (
    one_query.STEP,
    mended_attention.STEP,
    one_head.STEP,
    cross_attention.STEP,
    padded_softmax.STEP,
    grouped_attention.STEP,
    attend_next.STEP,
)
_BY_NAME = {step.name: step for step in (*GRADED, *EXERCISES)}
STEPS = tuple(step.name for step in GRADED)

globals().update({step.name: step.right for step in GRADED if not step.of_class})


def of(name: str):
    """Return the step or exercise of that name.

    Raises:
        ValueError: there is none.
    """
    if name not in _BY_NAME:
        raise ValueError(f"there is no step {name!r}")
    return _BY_NAME[name]


def names() -> tuple[str, ...]:
    """The names of all steps and exercises."""
    return tuple(_BY_NAME)
