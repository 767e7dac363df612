"""The known mistakes of every step and exercise. Adding one is adding one function."""

from functools import cache
from importlib import import_module

from attention_lab.check import steps
from attention_lab.check.catalogue import everywhere
from attention_lab.check.catalogue.entry import Known, Misconception

__all__ = ["Misconception", "by_signature", "explain", "of_step"]


@cache
def of_step(step: str) -> tuple[Misconception, ...]:
    """Return the known mistakes of a step or exercise, in the order in which they are tried."""
    module = import_module(f"{__name__}.{steps.of(step).catalogue}")
    known = (k for k in vars(module).values() if isinstance(k, Known) and k.step == step)
    return tuple(next(known))


def explain(step: str, slug: str) -> Misconception | None:
    """Return what is known of a mistake: of that step, else of any; else None."""
    return next(_known(step, slug), None)


def by_signature(step: str, slug: str) -> Misconception | None:
    """Return the same of a mistake that is named without an implementation that does what was
    seen; None for one that has any, since that would have to do so."""
    return next((e for e in _known(step, slug) if not (e.faulty or e.kept)), None)


def _known(step, slug):
    return (e for e in (*of_step(step), *everywhere.known) if e.slug == slug)
