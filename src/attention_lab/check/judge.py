"""The verdict on what was observed. Pure: nothing here calls an answer."""

import re
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor

from attention_lab.check import laws, steps
from attention_lab.check.numbers import close, difference, same
from attention_lab.observation import Failure, Layer, Observation, Probe

GRADIENT_TOLERANCE = 1e-4
LIBRARY_ATTENTION = re.compile(
    r"scaled_dot_product|multi_?head_attention|transformer_encoder_layer|"
    r"(flex|flash|efficient)_attention"
)
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
    "type": "it returned something other than tensors",
    "count": "it returned another number of tensors",
    "shape": "another shape",
    "dtype": "another dtype",
    "device": "another device",
    "nan": "NaN where numbers should be",
    "value": "other numbers",
    "law": "a law does not hold",
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
        symptoms += _law(probe, observed)
    library = [name for name in observed.called if LIBRARY_ATTENTION.search(name.lower())]
    if library:
        symptoms.append(Symptom("manner", "library", probe, got=min(library, key=_innermost)))
    return symptoms


def _innermost(name):
    """Of the names of a call and of those that torch makes for it, the one written comes first."""
    return "." in name, name.startswith("_"), len(name)


def _judge_outcome(probe, index, outcome, ideal, form_only):
    """Yield (aspect, kind, got, wanted) for what is wrong with one call."""
    call = probe.calls[index]
    if call.elsewhere:
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
    count, axes = len(steps.of(step).returns), len(steps.of(step).axes)
    if isinstance(output, Tensor):
        stacked = count > 1 and output.dim() == 1 + axes and output.shape[0] == count
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
        dtype = steps.of(probe.step).dtypes(call)
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


def _device(outcome):
    """On another device only a result elsewhere or a clash of devices counts."""
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
    compared = steps.of(probe.step).compared
    for got, right in zip(map(compared, outputs), map(compared, wanted), strict=True):
        if not close(got, right, probe.tolerance):
            is_nan = bool(got.isnan().any())
            yield ("value", "nan") if is_nan else ("value", "value", difference(got, right))
            return


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


def _law(probe, observed):
    """What the calls of a probe show together."""
    if probe.law:
        broken = laws.LAWS[probe.law](probe, [outcome.output for outcome in observed.outcomes])
        if broken is not None:
            yield Symptom("value", "law", probe, got=broken)


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
