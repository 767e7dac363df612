"""Checks of every step: `check.split_heads(split_heads)` prints what was tried or raises `Mistake`.

check.split_heads(split_heads)                   # visible probes
check.split_heads(split_heads, aspect="shape")   # one aspect: "shape" or "value"
check.split_heads(split_heads, hidden=True)      # all probes, as graded
"""

from attention_lab.check.mistake import Mistake
from attention_lab.check.references import STEPS
from attention_lab.check.run import check_step, listen, use_seed

__all__ = ["STEPS", "Mistake", "listen", "use_seed", *STEPS]


def _checker(step):
    def check(answer, *, aspect=None, hidden=False):
        check_step(step, answer, aspect=aspect, hidden=hidden)

    check.__name__ = check.__qualname__ = step
    check.__doc__ = f"""Check an answer to `{step}` against PyTorch.

    answer: the {"class" if step == "MultiHeadAttention" else "function"} to check.
    aspect: "shape" or "value" for the points of that cell alone, None for everything.
    hidden: also try the hidden probes.
    Prints what was checked; raises Mistake, and nothing else, whatever the answer does.
    """
    return check


globals().update({step: _checker(step) for step in STEPS})
