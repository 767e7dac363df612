"""Mistakes that are recognised by how an answer behaves, where no implementation need be compared.

Each function looks at the evidence and returns a slug or None. CERTAIN ones come before the
catalogue's implementations are compared, the OTHERS after.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from attention_lab.check.judge import Verdict, close, failure_of, same, tensors
from attention_lab.observation import Observation, Probe

LOOSE = 5e-3
IN_TURN = ("in turn", "on one instance")
LESSON = {"B": 2, "T": 5, "H": 4}.items()
CAN_DROP = ("masked_softmax", "attend", "MultiHeadAttention")


@dataclass(frozen=True)
class Evidence:
    """All that is known of a wrong answer."""

    step: str
    probes: tuple[Probe, ...]
    observations: tuple[Observation, ...]
    expected: tuple[Observation, ...]
    verdict: Verdict

    @property
    def kinds(self):
        return {symptom.kind for symptom in self.verdict.symptoms}

    @property
    def failures(self):
        """Exceptions, but for those on another device, and in which probe each was raised."""
        found = [(failure_of(s), s.probe) for s in self.verdict.symptoms if s.kind != "device"]
        return [(failure, probe) for failure, probe in found if failure]

    def calls(self):
        """Yield (probe, call, outcome, expected outcome) for every call that was made."""
        for probe, seen, right in zip(self.probes, self.observations, self.expected, strict=True):
            if not seen.failure:
                yield from zip(
                    [probe] * len(probe.calls),
                    probe.calls,
                    seen.outcomes,
                    right.outcomes,
                    strict=True,
                )

    def sizes(self):
        """Yield (sizes, whether it was right) for every basic call; `causal` is among the sizes."""
        for probe, call, outcome, right in self.calls():
            if probe.basic:
                yield sizes_of(probe, call), is_right(probe, outcome, right)


def sizes_of(probe, call):
    """The sizes of one call by name, as far as its step knows them."""
    first = call.args[0]
    if isinstance(first, int):
        return {"T": first}
    shape = tuple(first.shape)
    if len(shape) == 4:
        return dict(zip(("B", "H", "T", "d_head"), shape, strict=True))
    sizes = dict(zip(("B", "T", "d_model"), shape, strict=True))
    sizes["causal"] = call.args[-1] is True
    heads = probe.module.num_heads if probe.module else call.args[1]
    if isinstance(heads, int):
        sizes |= {"H": heads, "d_head": sizes["d_model"] // heads}
    return sizes


def is_right(probe, outcome, right) -> bool:
    """Whether the numbers of one call are the right ones."""
    if outcome.failure:
        return False
    got, wanted = tensors(probe.step, outcome.output), tensors(probe.step, right.output)
    return (
        got is not None
        and len(got) == len(wanted)
        and all(
            g.shape == w.shape and close(g, w, probe.tolerance or LOOSE)
            for g, w in zip(got, wanted, strict=True)
        )
    )


# --- certain, whatever the numbers are ---


def tampered(evidence):
    if any(seen.replaced for seen in evidence.observations):
        return "tampers-with-checker"
    return None


def interface_changed(evidence):
    failed = [seen.failure for seen in evidence.observations if seen.failure]
    if failed and failed[0].type == "Unusable" and "_proj" in failed[0].message:
        return "interface-changed"
    return None


def changed_something(evidence):
    if "layer changed" in evidence.kinds:
        return "mutates-parameters"
    return "mutates-input" if "argument changed" in evidence.kinds else None


def called_library(evidence):
    return "forbidden-library-call" if "library" in evidence.kinds else None


def disagrees_with_itself(evidence):
    """Two equal calls give different results: new layers each time if they are unlike the right
    ones, dropout if they resemble them."""
    for probe, seen, right in zip(
        evidence.probes, evidence.observations, evidence.expected, strict=True
    ):
        for first, second in _equal_calls(probe, seen):
            if not _alike(first, second):
                related = _resembles(evidence.step, first, right.outcomes[0])
                if evidence.step in CAN_DROP and related:
                    return "dropout-always-on"
                return None if related else "ignores-given-layers"
    return None


def _equal_calls(probe, seen):
    if seen.failure:
        return
    for i, call in enumerate(probe.calls):
        for j in range(i):
            if len(call.args) == len(probe.calls[j].args) and all(
                _same_argument(a, b) for a, b in zip(call.args, probe.calls[j].args, strict=True)
            ):
                yield seen.outcomes[j], seen.outcomes[i]


def _same_argument(one, other):
    if isinstance(one, Tensor) and isinstance(other, Tensor):
        return same(one, other)
    return type(one) is type(other) and (one is other or one == other)


def _alike(first, second):
    one, other = first.output, second.output
    if not (isinstance(one, Tensor) and isinstance(other, Tensor)):
        parts = [o for o in (one, other) if isinstance(o, tuple)]
        if len(parts) < 2 or not all(isinstance(t, Tensor) for p in parts for t in p):
            return True
        one, other = (torch.cat([t.flatten() for t in p]) for p in parts)
    return one.shape != other.shape or close(one.nan_to_num(0), other.nan_to_num(0), 1e-4)


def _resembles(step, outcome, right):
    got, wanted = tensors(step, outcome.output), tensors(step, right.output)
    if got is None or [g.shape for g in got] != [w.shape for w in wanted]:
        return False
    both = torch.stack([torch.cat([t.flatten().double() for t in ts]) for ts in (got, wanted)])
    return bool(torch.corrcoef(both)[0, 1] > 0.5)


CERTAIN = (
    tampered,
    interface_changed,
    changed_something,
    called_library,
    disagrees_with_itself,
)


# --- after the implementations ---


def ambiguous_truth(evidence):
    return _raised(evidence, "Boolean value of Tensor", "ambiguous-truth-value")


def float_size(evidence):
    floats = any(
        failure.type == "TypeError" and "float" in failure.message
        for failure, _ in evidence.failures
    )
    return "float-size" if floats and not _wrong_numbers(evidence) else None


def _raised(evidence, text, slug):
    return slug if any(text in failure.message for failure, _ in evidence.failures) else None


def _wrong_numbers(evidence):
    return bool(evidence.kinds & {"value", "nan", "shape"})


def refused_view(evidence):
    """A view that does not fit the strides: of a fresh result, or only of strided input."""
    refused = [
        probe for failure, probe in evidence.failures if "view size is not comp" in failure.message
    ]
    if not refused:
        return None
    if not any(probe.basic for probe in refused):
        return "contiguous-only"
    return "missing-contiguous" if evidence.step in ("merge_heads", "MultiHeadAttention") else None


def only_in_order(evidence):
    """Right but where the input's memory is not in order."""
    wrong = [s.probe for s in evidence.verdict.symptoms]
    in_order = [p for p in wrong if not any(_is_strided(c) for c in p.calls)]
    return "contiguous-only" if wrong and not in_order else None


def _is_strided(call):
    return any(isinstance(arg, Tensor) and not arg.is_contiguous() for arg in call.args)


def out_of_date(evidence):
    """Right at first and wrong later: something of an earlier call is kept."""
    for probe, seen, right in zip(
        evidence.probes, evidence.observations, evidence.expected, strict=True
    ):
        if seen.failure or not probe.about.endswith(IN_TURN):
            continue
        fits = [
            is_right(probe, o, r) and _dtype_fits(probe, c, o)
            for c, o, r in zip(probe.calls, seen.outcomes, right.outcomes, strict=True)
        ]
        if fits[0] and not all(fits) and _shorter_fails(probe, fits):
            return "stale-cache"
    return None


def _shorter_fails(probe, fits):
    """Whether a later call fails that is no larger than the first: no mere limit of size."""
    if isinstance(probe.calls[0].args[0], int):
        lengths = [call.args[0] for call in probe.calls]
    else:
        lengths = [call.args[0].shape[1] for call in probe.calls]
    return any(not fit and lengths[0] >= T for fit, T in zip(fits[1:], lengths[1:], strict=True))


def _dtype_fits(probe, call, outcome):
    if probe.step != "causal_mask" or len(call.args) < 3 or call.args[2] is None:
        return True
    return isinstance(outcome.output, Tensor) and outcome.output.dtype is call.args[2]


def wrong_dtype(evidence):
    if "dtype" not in evidence.kinds or _wrong_numbers(evidence):
        return None
    return "mask-wrong-dtype" if evidence.step == "causal_mask" else "dtype-changed"


def float32_only(evidence):
    """It raises in float64 and nowhere else."""
    raised = [probe for _, probe in evidence.failures]
    if raised and all("float64" in p.about for p in raised) and not _wrong_numbers(evidence):
        return "dtype-hard-coded"
    return None


def wrong_device(evidence):
    if evidence.kinds == {"device"} and evidence.step in ("causal_mask", "MultiHeadAttention"):
        return "mask-wrong-device"
    return None


def looped(evidence):
    return "python-loop-over-heads" if "loop" in evidence.kinds else None


def lost_gradient(evidence):
    if _wrong_numbers(evidence):
        return None
    if "gradient error" in evidence.kinds:
        return "backward-broken-inplace" if _raised(evidence, "inplace operation", "x") else None
    return "gradient-lost" if "gradient missing" in evidence.kinds else None


def finite_mask(evidence):
    """A causal mask whose blocked cells all hold one finite number that is not low enough."""
    if evidence.step != "causal_mask":
        return None
    fills = {_fill(call, outcome.output) for _, call, outcome, _ in evidence.calls()} - {0.0}
    if len(fills) != 1 or None in fills:
        return None
    (fill,) = fills
    if abs(fill) < 0.1:
        return "mask-tiny-value"
    return "mask-finite-value" if -2e4 <= fill <= -2 else None


def _fill(call, mask):
    """The number above the diagonal if it is one and the rest is 0; 0 where there is none."""
    T = call.args[0]
    if not isinstance(mask, Tensor) or mask.shape != (T, T) or mask.is_meta:
        return 0.0 if isinstance(mask, Tensor) and mask.is_meta else None
    above = mask[torch.ones(T, T, dtype=torch.bool).triu(1)].double()
    if mask.tril().any() or (above.numel() and bool((above != above[0]).any())):
        return None
    return round(float(above[0]), 12) if above.numel() else 0.0


def reads_globals(evidence):
    return "uses-notebook-globals" if any(s.reads for s in evidence.observations) else None


def fixed_scale(evidence):
    """The scores are divided by the same number whatever d_head is."""
    if evidence.step != "attention_scores":
        return None
    ratios = [
        float((right.output / outcome.output.double()).nanmedian()) * call.args[0].shape[-1] ** 0.5
        for probe, call, outcome, right in evidence.calls()
        if probe.basic and _proportional(outcome.output, right.output)
    ]
    basic = sum(len(probe.calls) for probe in evidence.probes if probe.basic)
    same_number = len(ratios) == basic and max(ratios) - min(ratios) < 1e-3 * max(ratios)
    return "hard-coded-size" if same_number else None


def _proportional(got, right):
    if not isinstance(got, Tensor) or got.shape != right.shape:
        return False
    factor = float((got.double() * right).sum() / (right * right).sum())
    return factor != 0 and close(got, factor * right, 1e-4)


def fixed_sizes(evidence):
    """Right only for one value of some size, or only up to one; with or without the mask."""
    trials = list(evidence.sizes())
    groups = [[t for t in trials if t[0].get("causal") == causal] for causal in (None, False, True)]
    wrong = [group for group in groups if not all(right for _, right in group)]
    slugs = {_fixed(group) for group in wrong}
    return slugs.pop() if len(slugs) == 1 else None


def _fixed(trials):
    if _right_exactly_where(trials, lambda s: s.get("B") == 1):
        return "batch-one-only"
    if _right_exactly_where(trials, _knows_the_lesson):
        return "hard-coded-size"
    telling = [trial for trial in trials if not _is_easy(trial[0])]
    for name in ("T", "d_head", "d_model", "B"):
        rights = [sizes[name] for sizes, right in telling if right and name in sizes]
        wrongs = [sizes[name] for sizes, right in telling if not right and name in sizes]
        one_value = len(rights) > 1 and len(set(rights)) == 1 and rights[0] not in wrongs
        limited = name == "T" and rights and wrongs and max(rights) < min(wrongs)
        if one_value or limited:
            return "hard-coded-size"
    return None


def _right_exactly_where(trials, condition):
    """Whether the condition tells right from wrong calls, where there are both."""
    both = len({right for _, right in trials}) == 2
    return both and all(right == condition(sizes) for sizes, right in trials)


def _knows_the_lesson(sizes):
    """Where an answer is right that knows the lesson's example and has a single head otherwise."""
    return 1 in (sizes.get("H"), sizes["T"]) or sizes.items() >= LESSON


def _is_easy(sizes):
    """Sizes at which many a mistake makes no difference."""
    return 1 in (sizes.get("H"), sizes["T"], sizes.get("d_head"))


def mask_beside_batch(evidence):
    """With a mask it fails unless the batch is 1 or as large as the number of heads."""
    causal = [trial for trial in evidence.sizes() if trial[0].get("causal")]
    if causal and _right_exactly_where(causal, lambda s: s["B"] in (1, s["H"])):
        return "mask-broadcast-batch-heads"
    return None


OTHERS = (
    ambiguous_truth,
    float_size,
    refused_view,
    wrong_device,
    out_of_date,
    wrong_dtype,
    float32_only,
    looped,
    lost_gradient,
    only_in_order,
    finite_mask,
    reads_globals,
    fixed_scale,
    mask_beside_batch,
    fixed_sizes,
)
