"""From an answer to a printed line or a Mistake: probes → observe → judge → diagnose."""

import secrets
from dataclasses import replace
from functools import lru_cache, partial

from torch import Tensor

from attention_lab.check import steps
from attention_lab.check.judge import judge
from attention_lab.check.mistake import Mistake
from attention_lab.check.probes import probes as make_probes
from attention_lab.check.references import expect
from attention_lab.observation import (
    Layer,
    Malformed,
    Observation,
    Request,
    decode,
    encode,
    observe_encoded,
)
from attention_lab.observation.neutral import neutral_torch

VISIBLE_SEED = 0
_hidden_seed = None
_listeners = []


def use_seed(seed: int | None) -> None:
    """Draw the numbers of hidden probes from `seed`, so that a verdict can be replayed; None for
    fresh numbers each time."""
    global _hidden_seed
    _hidden_seed = seed


def listen(listener) -> None:
    """Call `listener(step, aspect, hidden, mistake)` at every verdict from now on, with the
    Mistake, or None where the answer was right."""
    _listeners.append(listener)


def check_step(step, answer, *, aspect=None, hidden=False):
    """Check one answer; the contract is that of the functions in `attention_lab.check`."""
    if aspect not in (None, "shape", "value"):
        raise ValueError(f'aspect is "shape", "value" or None, not {aspect!r}')
    with neutral_torch():
        trials = _trials(step, _seed(hidden), hidden, basic=aspect == "shape")
        probes, expected, _ = trials
        observations, verdict, note = _try(step, answer, *trials, aspect)
        if verdict.against(aspect):
            ask = partial(_ask, step, answer, steps.of(step).substitutes if note else "")
            mistake = _mistake(step, aspect, probes, observations, expected, verdict, ask)
            mistake = _with_line(step, answer, hidden, mistake)
            tell(step, aspect, hidden, mistake)
            raise mistake
    tell(step, aspect, hidden, None)
    print(_passed(step, aspect, len(probes), hidden, note))


def tell(*what):
    """Say to whoever listens what a check has found; see `listen`."""
    for listener in _listeners:
        listener(*what)


def _seed(hidden):
    if not hidden:
        return VISIBLE_SEED
    return secrets.randbits(32) if _hidden_seed is None else _hidden_seed


@lru_cache(maxsize=32)
def _trials(step, seed, hidden, basic):
    """The probes, what a right answer shows on them, and the request for them, encoded. Kept, since
    a class of students is tried with the same."""
    probes = make_probes(step, seed, hidden)
    if basic:
        probes = tuple(_forward_only(p) for p in probes if p.basic)
    return probes, tuple(map(expect, probes)), _request(probes)


def _forward_only(probe):
    calls = tuple(replace(call, upstream=()) for call in probe.calls)
    return replace(probe, calls=calls)


def _request(probes, substitutes="", mend=""):
    return encode(Request(tuple(probe.asked for probe in probes), substitutes, mend))


def _try(step, answer, probes, expected, request, aspect):
    """Observe and judge: as it stands, and for a class that fails so, with right steps in place of
    the learner's own."""
    observations = _observe(step, answer, probes, request)
    verdict = judge(probes, observations, expected, form_only=aspect == "shape")
    if not verdict.against(aspect):
        return observations, verdict, ""
    note, substitutes = "", steps.of(step).substitutes
    if substitutes:
        observations = _observe(step, answer, probes, _request(probes, substitutes))
        note = "with right earlier steps in place of your own"
    return observations, judge(probes, observations, expected), note


def _observe(step, answer, probes, request):
    try:
        observations = decode(observe_encoded(answer, request), tuple[Observation, ...])
    except (Malformed, KeyboardInterrupt) as error:
        raise _unanswered(step, error) from None
    if len(observations) != len(probes) or not all(map(_belongs, observations, probes)):
        raise _unanswered(step, Malformed("it does not belong to what was asked"))
    return observations


def _belongs(observation, probe):
    """Whether an observation has as many parts as its probe; a hostile process may send any."""
    if observation.failure:
        return True
    return len(observation.outcomes) == len(probe.calls) and all(
        len(outcome.args) in (0, len(call.args))
        and len(outcome.layers) in (0, len(probe.module.layers) if probe.module else 0)
        and len(outcome.gradients) in (0, _differentiable(probe, call))
        for outcome, call in zip(observation.outcomes, probe.calls, strict=True)
    )


def _differentiable(probe, call):
    """How many gradients a call has: two for every layer, one for every other tensor."""
    own = 2 * len(probe.module.layers) if probe.module else 0
    for position, arg in enumerate(call.args):
        is_tensor = isinstance(arg, Tensor) and position not in call.constants
        own += 2 if isinstance(arg, Layer) else is_tensor
    return own


def _unanswered(step, error):
    if isinstance(error, KeyboardInterrupt):
        seen, look = "it was interrupted before it was done", "is there a loop that never ends?"
    else:
        seen, look = f"what came back could not be read ({error})", "does it return plain tensors?"
    return Mistake(step, "shape", seen, "nothing can be said about this answer", look)


def _ask(step, answer, substitutes, probes, mend=""):
    """What the answer does on more probes, or while something is set right for it."""
    return _observe(step, answer, probes, _request(probes, substitutes, mend))


def _mistake(step, aspect, *seen):
    from attention_lab.check.diagnose import diagnose  # loaded only when something is wrong

    return diagnose(step, aspect, *seen)


def _with_line(step, answer, hidden, mistake):
    """The same Mistake, with the line to look at where the answer may be searched for one."""
    from attention_lab.check.line import with_line

    return with_line(step, answer, mistake, hidden=hidden)


def _passed(step, aspect, count, hidden, note):
    what = f"{step}, {aspect}" if aspect else step
    told = [f"right in {count} trials", "hidden ones among them" if hidden else "", note]
    return f"\N{CHECK MARK} {what}: {', '.join(filter(None, told))}."
