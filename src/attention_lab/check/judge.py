"""The verdict on what was observed. Pure: nothing here calls an answer."""

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor

from attention_lab.check import laws, references, steps
from attention_lab.observation import Failure, Layer, Observation, Probe

GRADIENT_TOLERANCE = 1e-4
EFFECT_ROWS = 64
LIBRARY_ATTENTION = re.compile(
    r"scaled_dot_product|multi_?head_attention|transformer_encoder_layer|"
    r"(flex|flash|efficient)_attention"
)
OUTPUTS = {"project": 3}
STACKED = 4  # axes of one tensor that holds all three
ASPECTS = ("shape", "value", "manner")
UNCALLED = "layers that were not called"


@dataclass(frozen=True)
class Symptom:
    """One thing that is wrong, and where it was seen.

    aspect: "shape" | "value" | "manner". kind: what it is, one of KINDS.
    call: which call of the probe. got, wanted: shapes, types, names, counts or sizes to tell of it.
    """

    aspect: str
    kind: str
    probe: Probe
    call: int = 0
    got: object = None
    wanted: object = None


KINDS = {
    "unusable": "the answer is not the kind of thing that was asked for",
    "error": "it raised",
    "type": "it returned something else than tensors",
    "count": "it returned another number of tensors",
    "shape": "another shape",
    "dtype": "another dtype",
    "device": "another device",
    "nan": "NaN where numbers should be",
    "value": "other numbers",
    "law": "a law does not hold",
    "pipeline": "a whole attention around it gives other numbers than PyTorch's",
    "gradient error": "the backward pass raised",
    "gradient missing": "no gradient arrives",
    "gradient nan": "NaN where a gradient should be",
    "gradient": "another gradient",
    "argument changed": "an argument was changed",
    "layer changed": "a layer's weights were changed",
    "library": "PyTorch's own attention was called",
    "loop": "the number of calls grows with the number of heads",
}


@dataclass(frozen=True)
class Verdict:
    """All symptoms of one answer in the order of the probes; none if it is right."""

    symptoms: tuple[Symptom, ...] = ()

    def against(self, aspect: str | None) -> tuple[Symptom, ...]:
        """The symptoms that cost `aspect`, gravest first: the value of a wrong shape is wrong too,
        and manner is charged to value."""
        wanted = ("shape",) if aspect == "shape" else ASPECTS
        found = [s for s in self.symptoms if s.aspect in wanted]
        return tuple(sorted(found, key=lambda s: ASPECTS.index(s.aspect)))


def judge(
    probes: tuple[Probe, ...],
    observations: tuple[Observation, ...],
    expected: tuple[Observation, ...],
    *,
    form_only: bool = False,
) -> Verdict:
    """Compare what was observed with what a right answer shows, probe by probe.

    form_only: leave numbers alone, which are nothing to the shape's points.
    """
    symptoms = []
    for probe, observed, right in zip(probes, observations, expected, strict=True):
        symptoms += _judge_probe(probe, observed, right, form_only)
    symptoms += _loop(probes, observations)
    return Verdict(tuple(symptoms))


def _judge_probe(probe, observed, right, form_only):
    if observed.failure:
        return [Symptom("shape", "unusable", probe, got=observed.failure)]
    symptoms = []
    for index, (outcome, ideal) in enumerate(zip(observed.outcomes, right.outcomes, strict=True)):
        found = _judge_outcome(probe, index, outcome, ideal, form_only)
        symptoms += [Symptom(aspect, kind, probe, index, *rest) for aspect, kind, *rest in found]
    if not symptoms and not form_only and len(observed.outcomes) == len(probe.calls):
        symptoms += _judge_together(probe, observed)
    library = [name for name in observed.called if LIBRARY_ATTENTION.search(name.lower())]
    if library:
        symptoms.append(Symptom("manner", "library", probe, got=library[0]))
    return symptoms


def _judge_outcome(probe, index, outcome, ideal, form_only):
    """Yield (aspect, kind, got, wanted) for what is wrong with one call."""
    call = probe.calls[index]
    if probe.is_elsewhere(index):
        yield from _device(outcome)
        return
    yield from _unchanged(probe, index, outcome)
    if outcome.failure:
        yield "shape" if probe.basic else "value", "error", outcome.failure
        return
    outputs, wanted = tensors(probe.step, outcome.output), tensors(probe.step, ideal.output)
    wrong = list(_form(probe, call, outputs, wanted, outcome.output))
    if not wrong and not form_only:
        wrong = list(_numbers(probe, outputs, wanted)) or list(_gradients(outcome, ideal))
    yield from wrong


def tensors(step, output):
    """Return the tensors that an output is made of, or None if it is something else."""
    count = OUTPUTS.get(step, 1)
    if isinstance(output, Tensor):
        stacked = count > 1 and output.dim() == STACKED and output.shape[0] == count
        return output.unbind(0) if stacked else (output,)
    if isinstance(output, tuple) and output and all(isinstance(o, Tensor) for o in output):
        return output
    return None


def _form(probe, call, outputs, wanted, output):
    if outputs is None:
        yield "shape", "type", type_name(output), len(wanted)
    elif len(outputs) != len(wanted) or (len(wanted) == 1 and isinstance(output, tuple)):
        yield "shape", "count", shapes(outputs), shapes(wanted)
    elif isinstance(output, Tensor) and shapes(outputs) != shapes(wanted) and len(wanted) > 1:
        yield "shape", "count", (tuple(output.shape),), shapes(wanted)
    elif shapes(outputs) != shapes(wanted):
        yield "shape", "shape", shapes(outputs), shapes(wanted)
    else:
        dtype = _dtype(probe, call)
        other = [o.dtype for o in outputs if o.dtype not in dtype]
        if other:
            yield "value", "dtype", other[0], dtype[0]
        if any(o.is_meta for o in outputs):
            yield "manner", "device", "meta", "cpu"


def shapes(outputs):
    return tuple(tuple(o.shape) for o in outputs)


def type_name(output):
    """Return how to call what came back, in a learner's words."""
    parts = output if isinstance(output, tuple) else (output,)
    if any(isinstance(part, Layer) for part in parts):
        return UNCALLED
    if isinstance(output, tuple):
        return "several things that are not all tensors"
    return getattr(output, "type", type(output).__name__)


def _dtype(probe, call):
    """The dtypes that are right for an output: the input's; a mask's as asked for."""
    if probe.step == "causal_mask":
        asked = call.args[2] if len(call.args) > 2 else None
        return (asked,) if asked else (torch.float32, torch.float64)
    return (call.args[0].dtype,)


def _device(outcome):
    """On another device only a result elsewhere or a clash of devices counts: an error that says
    that data is missing is no verdict."""
    failure = outcome.failure
    if failure is None:
        outputs = outcome.output if isinstance(outcome.output, tuple) else (outcome.output,)
        if any(isinstance(o, Tensor) and not o.is_meta for o in outputs):
            yield "manner", "device", "cpu"
    elif _is_clash(failure):
        yield "manner", "device", failure


def _is_clash(failure):
    text = failure.message
    return failure.type == "RuntimeError" and all(
        word in text for word in ("device", "cpu", "meta")
    )


def _numbers(probe, outputs, wanted):
    if probe.tolerance is None:
        return
    if probe.step == "causal_mask":
        outputs, wanted = [_effect(*outputs)], [_right_effect(len(*wanted))]
    for got, right in zip(outputs, wanted, strict=True):
        if not close(got, right, probe.tolerance):
            is_nan = bool(got.isnan().any())
            yield ("value", "nan") if is_nan else ("value", "value", difference(got, right))
            return


def _effect(mask):
    """What an additive mask does to scores as large as they get: the weights it lets through, in
    some rows where there are very many. (2, rows, T)"""
    rows, scores = _scores_to_mask(len(mask))
    return torch.softmax(scores + mask[rows].to(torch.float64), dim=-1)


@lru_cache(maxsize=32)
def _scores_to_mask(T):
    """Some rows of a (T, T) mask and scores for them, once ordinary, once of up to 10 000."""
    rows = torch.linspace(0, T - 1, min(T, EFFECT_ROWS)).round().long()
    blocked = torch.arange(T) > rows[:, None]
    spread = torch.linspace(-1, 1, T, dtype=torch.float64)
    worst = torch.where(blocked, 1e4, -1e4) + spread
    return rows, torch.stack([(3 * spread).expand_as(worst), worst])


@lru_cache(maxsize=32)
def _right_effect(T):
    return _effect(steps.causal_mask(T))


def close(got: Tensor, right: Tensor, tolerance: float) -> bool:
    """Whether all numbers agree within `tolerance`, absolute plus relative to `right`.

    Tensors without numbers, on the meta device, agree with nothing.
    """
    if got.is_meta or right.is_meta:
        return False
    got, right = got.to(torch.float64).numpy(), right.to(torch.float64).numpy()
    with np.errstate(invalid="ignore"):  # inf - inf
        error = np.abs(got - right)
        near = error <= tolerance + tolerance * np.abs(right)
    finite = np.isfinite(error)
    if near.all() and finite.all():
        return True
    return bool(((near & finite) | (got == right)).all())


def difference(got, right):
    """The largest difference of two tensors, as a number."""
    return float((got.to(torch.float64) - right.to(torch.float64)).abs().nan_to_num(0).max())


def _gradients(outcome, ideal):
    if not ideal.gradients:
        return
    if outcome.backward_failure:
        yield "manner", "gradient error", outcome.backward_failure
    elif not outcome.gradients:
        yield "manner", "gradient missing"
    elif not _close_together(outcome.gradients, ideal.gradients):
        for got, right in zip(outcome.gradients, ideal.gradients, strict=True):
            if not _is_gradient(got, right):
                yield "manner", _kind_of_gradient(got)


def _kind_of_gradient(got):
    if got is None or not got.any():
        return "gradient missing"
    return "gradient nan" if got.isnan().any() else "gradient"


def _close_together(gradients, right):
    """Whether all gradients arrived and agree, compared at once."""
    if any(g is None for g in (*gradients, *right)):
        return False
    one, other = (torch.cat([g.flatten() for g in both]) for both in (gradients, right))
    return shapes(gradients) == shapes(right) and close(one, other, GRADIENT_TOLERANCE)


def _is_gradient(got, right):
    """Whether gradients agree; none at all is the same as zeros."""
    if got is None or right is None:
        return all(
            g is None or close(torch.zeros_like(g), g, GRADIENT_TOLERANCE) for g in (got, right)
        )
    return got.shape == right.shape and close(got, right, GRADIENT_TOLERANCE)


def _unchanged(probe, index, outcome):
    given = probe.calls[index].args if outcome.args else ()
    for before, after in zip(given, outcome.args, strict=True):
        if isinstance(before, Layer) and not same(before, after):
            yield "manner", "layer changed"
        elif isinstance(before, Tensor) and not same(before, after):
            yield "manner", "argument changed"
    if outcome.layers:
        pairs = zip(probe.layers_at(index), outcome.layers, strict=True)
        if not all(same(before, after) for before, after in pairs):
            yield "manner", "layer changed"


def same(before, after):
    """Whether a tensor or layer is what it was, to the bit."""
    if isinstance(before, Layer):
        return isinstance(after, Layer) and all(
            same(getattr(before, part), getattr(after, part)) for part in ("weight", "bias")
        )
    if not isinstance(after, Tensor) or _form_of(before) != _form_of(after):
        return False
    return before.numpy().tobytes() == after.numpy().tobytes()


def _form_of(tensor):
    return tensor.shape, tensor.dtype, tensor.device


def _judge_together(probe, observed):
    """What the calls of a probe show together: a law, or a whole attention around the step."""
    outputs = [outcome.output for outcome in observed.outcomes]
    if probe.law:
        broken = laws.LAWS[probe.law](probe, outputs)
        if broken is not None:
            yield Symptom("value", "law", probe, got=broken)
    if probe.pipeline:
        yield from _in_pipeline(probe, outputs)


def _in_pipeline(probe, outputs):
    """Put the answer's outputs into an otherwise right attention and compare with PyTorch's."""
    waiting = iter(outputs)

    def take(step, *args):
        if step != probe.step:
            return getattr(steps, step)(*(references.as_function(a) for a in args))
        output = next(waiting)
        return tensors(step, output) if step in OUTPUTS else output

    with torch.no_grad():
        results = references.finish(probe.pipeline, take)
    for got, right in zip(results, references.whole(probe.pipeline), strict=True):
        if not close(got, right, 10 * probe.tolerance):
            yield Symptom("value", "pipeline", probe, got=difference(got, right))
            return


def _loop(probes, observations):
    """A loop over heads: every further head costs at least one more call into torch."""
    counted = [
        (probe.heads, observed.calls, probe)
        for probe, observed in zip(probes, observations, strict=True)
        if probe.heads and not observed.failure and not any(o.failure for o in observed.outcomes)
    ]
    pairs = list(pairwise(counted))
    if pairs and all(more - less >= H - h for (h, less, _), (H, more, _) in pairs):
        yield Symptom("manner", "loop", counted[-1][2], got=tuple((h, n) for h, n, _ in counted))


def failure_of(symptom: Symptom) -> Failure | None:
    """The exception a symptom tells of, if it tells of one."""
    return symptom.got if isinstance(symptom.got, Failure) else None
