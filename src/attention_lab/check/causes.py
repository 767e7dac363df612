"""Causes that are proven: with this set right, the answer is right.

Each function supposes one cause, asks the answer once more, and returns a slug or None, or several
slugs, of which the step knows one. What is set right is either what the answer is given or, while
it runs, what torch does (see `attention_lab.observation.mends`).
"""

import math
from dataclasses import replace
from itertools import product

import torch
from torch import Tensor

from attention_lab.check import steps
from attention_lab.check.draw import Draw
from attention_lab.check.evidence import FACTS
from attention_lab.check.facts import differ_from_themselves
from attention_lab.check.judge import failure_of
from attention_lab.check.numbers import close
from attention_lab.check.references import expect
from attention_lab.observation import Layer
from attention_lab.observation.mends import WHOLE_DIVISION
from attention_lab.observation.probe import Given

MOST_TRIED = 130  # ways to give names or numbers sizes


def is_right_with(evidence, mend="", change=None):
    """Whether all is right with something set right: on one trial that shows a fault, then on all.

    change: makes of a probe and what is expected on it others; () where it cannot be told.
    """
    change = change or (lambda probe, expected: [(probe, expected)])
    at_fault = {id(s.probe) for s in evidence.faults}
    pairs = zip(evidence.probes, evidence.expected, strict=True)
    faulty = [change(p, e) for p, e in pairs if id(p) in at_fault]
    if not all(faulty) or not _is_right(evidence, faulty[0], mend):
        return False
    pairs = zip(evidence.probes, evidence.expected, strict=True)
    return _is_right(evidence, [new for pair in pairs for new in change(*pair)], mend)


def _is_right(evidence, pairs, mend):
    return not evidence.tried(*zip(*pairs, strict=True), mend).faults


def _raised(evidence, *types):
    return any(failure.type in types for failure, _ in evidence.failures)


# --- what torch does ---


def truth_asked(evidence):
    if _raised(evidence, "RuntimeError") and is_right_with(evidence, "truth"):
        return "ambiguous-truth-value"
    return None


def float_size(evidence):
    return "float-size" if _raised(evidence, "TypeError") and _whole(evidence) else None


def _whole(evidence):
    return is_right_with(evidence, WHOLE_DIVISION)


def refused_view(evidence):
    if not _raised(evidence, "RuntimeError") or not is_right_with(evidence, "copying_views"):
        return None
    fresh = any(not _is_strided(s.probe.calls[s.call]) for s in evidence.faults)
    return "missing-contiguous" if fresh else "contiguous-only"


def dropped_axes(evidence):
    return "squeeze-drops-dims" if is_right_with(evidence, "no_squeeze") else None


def casts(evidence):
    if not is_right_with(evidence, "no_casts"):
        return None
    if evidence.failures:
        return "dtype-hard-coded"
    return "mask-wrong-dtype", "dtype-changed"


def on_the_cpu(evidence):
    if evidence.kinds - FACTS != {"device"} or not is_right_with(evidence, "beside_input"):
        return None
    return "mask-wrong-device" if all(map(_is_masked, evidence.faults)) else None


def _is_masked(symptom):
    """Whether it was seen where a mask was made."""
    probe = symptom.probe
    return not probe.module or steps.of(probe.step).is_masked(probe.calls[symptom.call])


def overwritten(evidence):
    if "gradient error" in evidence.kinds and is_right_with(evidence, "kept_for_backward"):
        return "backward-broken-inplace"
    return None


def rounds(evidence):
    return "rounded-scores" if is_right_with(evidence, "no_rounding") else None


def random(evidence):
    """It is right without dropout; or two equal calls differ unless random numbers are the same."""
    if is_right_with(evidence, "no_dropout"):
        return "dropout-always-on"
    if not differ_from_themselves(evidence):
        return None
    seeded = evidence.tried(evidence.probes, evidence.expected, "seeded")
    return None if differ_from_themselves(seeded) else "dropout-always-on"


# --- what it is given ---


def no_default(evidence):
    """It is right where `causal` is given."""
    lacks = evidence.faults and all(
        failure_of(s) and len(s.probe.calls[s.call].args) == 1 and s.probe.module
        for s in evidence.faults
    )
    if not lacks or not _raised(evidence, "TypeError"):
        return None
    return "wrong-default" if is_right_with(evidence, change=_given_causal) else None


def _given_causal(probe, expected):
    calls = tuple(replace(c, args=(*c.args, False)[:2]) for c in probe.calls)
    return [(replace(probe, calls=calls), expected)]


def only_in_order(evidence):
    """It is right where the same numbers lie in memory in the order of the axes."""
    if not all(_is_strided(s.probe.calls[s.call]) for s in evidence.faults):
        return None
    return "contiguous-only" if is_right_with(evidence, change=_in_order) else None


def _is_strided(call):
    return any(isinstance(arg, Tensor) and not arg.is_contiguous() for arg in call.args)


def _in_order(probe, expected):
    calls = tuple(
        replace(c, args=tuple(a.contiguous() if isinstance(a, Tensor) else a for a in c.args))
        for c in probe.calls
    )
    return [(replace(probe, calls=calls), expected)]


def without_gradients(evidence):
    """It is right where nothing is recorded for a backward pass."""
    if not _raised(evidence, "RuntimeError"):
        return None
    return "gradient-lost" if is_right_with(evidence, "unrecorded", _forward_only) else None


def _forward_only(probe, expected):
    outcomes = tuple(replace(o, gradients=()) for o in expected.outcomes)
    calls = tuple(replace(c, upstream=()) for c in probe.calls)
    return [(replace(probe, calls=calls), replace(expected, outcomes=outcomes))]


def tied_layers(evidence):
    """Layers hold other numbers than were written into them before anything was called."""
    probe = next((p for p in evidence.probes if p.module), None)
    if probe is None or "layer changed" not in evidence.kinds:
        return None
    calls = (replace(probe.calls[0], args=(), upstream=()),)  # which fails before it does anything
    (seen,) = evidence.ask([replace(probe, calls=calls)], "")
    return "shared-projection" if any(outcome.layers for outcome in seen.outcomes) else None


def kept_in_instance(evidence):
    """Every call is right on an instance of its own."""
    judged = [s.probe for s in evidence.faults if s.probe.tolerance is not None]
    if not any(p.module and len(p.calls) > 1 for p in judged):
        return None
    return "stale-cache" if is_right_with(evidence, change=_one_by_one) else None


def _one_by_one(probe, expected):
    """Each call of a probe by itself; no law can then say anything."""
    alone = replace(probe, law=None, around=None)
    pairs = enumerate(zip(probe.calls, expected.outcomes, strict=True))
    return [
        (_single(alone, call, probe.layers_at(i)), replace(expected, outcomes=(outcome,)))
        for i, (call, outcome) in pairs
    ]


def _single(probe, call, layers):
    module = replace(probe.module, layers=layers) if probe.module else None
    return replace(probe, calls=(replace(call, layers=()),), module=module)


def one_sentence_at_a_time(evidence):
    """Every sentence of a batch is right by itself."""
    if not evidence.goes_wrong or not _has_batch(evidence.probes[0].calls[0].args[0]):
        return None
    if not is_right_with(evidence, change=_sentences) or is_right_with(
        evidence, change=_one_by_one
    ):
        return None
    if not all(t.has_right_shape for t in evidence.wrong):
        return "batch-one-only"
    return "batch-mixed" if _moves_with_others(evidence) else None


def _moves_with_others(evidence):
    """Whether the first or the last sentence's result is another where only others are."""
    probe = replace(evidence.wrong[0].probe, law=None, around=None)
    call = replace(evidence.wrong[0].call, upstream=(), layers=())
    B = call.args[0].shape[0]
    calls = [call, _with_others_changed(call, 0), _with_others_changed(call, B - 1)]
    probes = [replace(probe, calls=(c,)) for c in calls]
    before, *after = [t.got for t in evidence.tried(probes, map(expect, probes)).trials]
    if before is None or None in after:
        return False
    return any(
        not close(one[b], other[b], 1e-5)
        for b, got in zip((0, B - 1), after, strict=True)
        for one, other in zip(before, got, strict=True)
    )


def _with_others_changed(call, b):
    """A call in which all sentences but `b` are others."""

    def changed(arg):
        factor = torch.full((len(arg), *[1] * (arg.dim() - 1)), 2.0, dtype=arg.dtype)
        factor[b] = 1
        return arg * factor

    return replace(call, args=tuple(changed(a) if _has_batch(a) else a for a in call.args))


def _sentences(probe, expected):
    return [
        (_row(single, b), _row_of(seen, b))
        for single, seen in _one_by_one(probe, expected)
        for b in range(single.calls[0].args[0].shape[0])
    ]


def _row(probe, b):
    """A probe of sentence `b` alone."""
    (call,) = probe.calls
    args = tuple(_of_batch(arg, b) if _has_batch(arg) else arg for arg in call.args)
    return replace(probe, calls=(replace(call, args=args, upstream=()),))


def _has_batch(arg):
    return isinstance(arg, Tensor) and arg.dim() > 2


def _of_batch(value, b):
    return tuple(v[b : b + 1] for v in value) if isinstance(value, tuple) else value[b : b + 1]


def _row_of(expected, b):
    (outcome,) = expected.outcomes
    outcome = replace(outcome, output=_of_batch(outcome.output, b), gradients=())
    return replace(expected, outcomes=(outcome,))


def unused_layers(evidence):
    """With other numbers in a layer the result stays the same."""
    probe = next((p for p in evidence.probes if p.basic and not p.elsewhere), None)
    if probe is None or not any(isinstance(a, Layer) for a in _layers(probe)):
        return None
    probe = replace(probe, calls=(replace(probe.calls[0], upstream=()),))
    places = range(len(_layers(probe)))
    probes = [probe, *(_with_other_layer(probe, place) for place in places)]
    seen = evidence.tried(probes, [expect(p) for p in probes], "seeded").trials
    before, *after = [t.got for t in seen] if len(seen) == len(probes) else [None]
    if before is None or any(got is None or len(got) != len(before) for got in after):
        return None
    moved = [not all((a == b).all() for a, b in zip(got, before, strict=True)) for got in after]
    return None if all(moved) else "ignores-given-layers"


def _layers(probe):
    if probe.module:
        return probe.module.layers
    return tuple(a for a in probe.calls[0].args if isinstance(a, Layer))


def _with_other_layer(probe, place):
    layers = list(_layers(probe))
    layers[place] = Draw(place + 1).layer(layers[place].weight.shape[0])
    if probe.module:
        return replace(probe, module=replace(probe.module, layers=tuple(layers)))
    (call,), waiting = probe.calls, iter(layers)
    args = tuple(next(waiting) if isinstance(a, Layer) else a for a in call.args)
    return replace(probe, calls=(replace(call, args=args),))


# --- names and numbers in its code ---


def numbers_of_notebook(evidence):
    """It is right where the names of the notebook that it reads are sizes of each trial."""
    names = {name for seen in evidence.observations for name in seen.reads}
    return "uses-notebook-globals" if names and _as_sizes(evidence, sorted(names)) else None


def written_number(evidence):
    """It is right where a number that is written in it is a size of each trial."""
    numbers = [n for n in _written(evidence) if type(n) is int and n > 1]
    found = any(_as_sizes(evidence, [number]) for number in numbers[:12])
    return "hard-coded-size" if found else None


def finite_number(evidence):
    """Only where something is closed it goes wrong, and it is right where a low number that is
    written in it is minus infinity."""
    if not all(map(_is_masked, evidence.faults)):
        return None
    for number in _written(evidence):
        given = (Given(number, -math.inf),)
        if number < -1 and is_right_with(
            evidence, change=lambda p, e, given=given: [(replace(p, given=given), e)]
        ):
            return "mask-finite-value"
    return None


def _written(evidence):
    return sorted({number for seen in evidence.observations for number in seen.written})


def _as_sizes(evidence, items):
    """Whether all is right with each of these names or numbers standing for some size."""
    if not evidence.wrong:
        return False
    sizes = evidence.wrong[0].sizes
    if len(sizes) ** len(items) > MOST_TRIED:
        return False
    return any(
        is_right_with(evidence, change=lambda p, e, ways=ways: _giving(evidence, items, ways, p, e))
        for ways in product(sizes, repeat=len(items))
    )


def _giving(evidence, items, ways, probe, expected):
    """The calls of a probe one by one, with these items given as sizes."""
    if probe.tolerance is None:
        return [(probe, expected)]
    sizes = [steps.of(probe.step).sizes(call, probe.module) for call in probe.calls]
    return [
        (replace(single, given=tuple(map(Given, items, map(s.__getitem__, ways)))), seen)
        for (single, seen), s in zip(_one_by_one(probe, expected), sizes, strict=True)
    ]


# --- what hides another mistake ---


def hiding(evidence):
    """Return (slug, evidence) if something raises that can be set right, though more is wrong: its
    name, and what is seen with it set right. None if not."""
    if not evidence.failures:
        return None
    (failure, probe), *_ = evidence.failures
    if not probe.basic or evidence.faults[0].kind != "error":
        return None
    for slug, kind, mend in HIDING:
        if failure.type == kind:
            seen = evidence.tried(evidence.probes, evidence.expected, mend)
            if not any(f.type == kind for f, _ in seen.failures):
                return slug, seen
    return None


HIDING = (
    ("float-size", "TypeError", WHOLE_DIVISION),
    ("missing-contiguous", "RuntimeError", "copying_views"),
    ("ambiguous-truth-value", "RuntimeError", "truth"),
)
CERTAIN_CAUSES = (tied_layers,)
FIRST_CAUSES = (kept_in_instance, numbers_of_notebook)
CAUSES = (
    truth_asked,
    float_size,
    no_default,
    only_in_order,
    refused_view,
    dropped_axes,
    casts,
    on_the_cpu,
    overwritten,
    without_gradients,
    rounds,
    one_sentence_at_a_time,
    written_number,
    finite_number,
)
LAST_CAUSES = (unused_layers, random)
