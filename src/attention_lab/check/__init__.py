"""Checks of every step and exercise: `check.split_heads(split_heads)` prints what was tried, or
raises `Mistake`.

check.split_heads(split_heads)                   # visible probes
check.split_heads(split_heads, aspect="shape")   # one aspect: "shape" or "value"
check.split_heads(split_heads, hidden=True)      # all probes, as graded
"""

from attention_lab.check.fault import fault
from attention_lab.check.mistake import Mistake
from attention_lab.check.run import check_step, listen, use_seed
from attention_lab.check.steps import STEPS, names, of

__all__ = ["STEPS", "Mistake", "fault", "listen", "use_seed", *names()]


def _checker(step):
    def check(answer, *beside, aspect=None, hidden=False):
        check_step(step.name, step.answer(answer, *beside), aspect=aspect, hidden=hidden)

    check.__name__ = check.__qualname__ = step.name
    check.__doc__ = f"""Check an answer to `{step.name}` against PyTorch.

    answer: the {"class" if step.of_class else "function"} to check.
    beside: what else an exercise asks for.
    aspect: "shape" or "value" for the points of that cell alone, None for everything.
    hidden: also try the hidden probes.
    Prints what was checked; raises Mistake, and nothing else, whatever the answer does.
    """
    return check


globals().update({name: _checker(of(name)) for name in names()})
