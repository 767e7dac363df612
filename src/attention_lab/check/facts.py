"""What was seen and says itself: nothing has to be supposed and tried for it.

Each function returns a slug or None, or several slugs, of which the step knows one.
"""

import ast

from torch import Tensor

from attention_lab.check.judge import UNCALLED, failure_of
from attention_lab.check.numbers import close, same
from attention_lab.observation import Unknown

LESSON = {"B": 2, "T": 5, "d_model": 16, "H": 4, "d_head": 4}.items()


def is_unwritten(symptom) -> bool:
    """Whether it is still the stub: it raises NotWrittenYet, or NotImplementedError in a line of
    its own."""
    failure = failure_of(symptom)
    if failure is None or failure.type != "NotImplementedError":
        return failure is not None and failure.type == "NotWrittenYet"
    return isinstance(_statement(failure.line), ast.Raise)


def _statement(line):
    """What a line says; None where it is not a statement by itself."""
    try:
        (statement,) = ast.parse(line).body
    except (SyntaxError, ValueError):
        return None
    return statement


def tampered(evidence):
    replaced = any(seen.replaced for seen in evidence.observations)
    return "tampers-with-checker" if replaced else None


def interface_changed(evidence):
    failed = [seen.failure for seen in evidence.observations if seen.failure]
    if failed and failed[0].type == "Unusable" and "_proj" in failed[0].message:
        return "interface-changed"
    return None


def changed_layer(evidence):
    """A layer's numbers are others afterwards, or the line that failed writes to them."""
    writes = any(_writes_to_layer(failure.line) for failure, _ in evidence.failures)
    return "mutates-parameters" if writes or "layer changed" in evidence.kinds else None


def _writes_to_layer(line):
    match _statement(line):
        case ast.Assign(targets=targets):
            return any(map(_is_of_layer, targets))
        case ast.AugAssign(target=target):
            return _is_of_layer(target)
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=value, attr=attr))):
            return attr.endswith("_") and _is_of_layer(value)
    return False


def _is_of_layer(node):
    return isinstance(node, ast.Attribute) and node.attr in ("weight", "bias")


def changed_argument(evidence):
    return "mutates-input" if "argument changed" in evidence.kinds else None


def called_library(evidence):
    return "forbidden-library-call" if "library" in evidence.kinds else None


def looped(evidence):
    form = evidence.kinds & {"type", "count"}  # several tensors are no result of a loop
    return "python-loop-over-heads" if "loop" in evidence.kinds and not form else None


def returned_extra(evidence):
    """More things than one, the right one among them."""
    extra = bool(evidence.wrong) and all(map(_holds_more, evidence.wrong))
    return "returns-extra" if extra else None


def _holds_more(trial):
    output = trial.outcome.output
    if isinstance(output, Unknown):
        return output.type in ("dict", "OrderedDict")
    return (
        isinstance(output, tuple)
        and len(trial.wanted) == 1
        and any(_is_right(o, *trial.wanted, trial.tolerance) for o in output)
    )


def _is_right(got, wanted, tolerance):
    is_tensor = isinstance(got, Tensor) and got.shape == wanted.shape
    return is_tensor and close(got, wanted, tolerance)


def other_form(evidence):
    """Tensors of other shapes, or another number of them, at all sizes that can tell."""
    told = [s.got for s in evidence.verdict.symptoms]
    if "NoneType" in told or UNCALLED in told:
        return None
    telling = [t for t in (*evidence.basic, *evidence.telling) if _can_tell_form(t)]
    returned = [t for t in telling if t.got]
    misshapen = not any(t.has_right_shape or t.outcome.failure for t in telling)
    several = len({tuple(g.shape for g in t.got) for t in returned}) > 1
    return "wrong-return-shape" if misshapen and several else None


def _can_tell_form(trial):
    sizes = trial.sizes  # one tensor of a batch of 3 unpacks to three by chance
    return sizes.get("T") != 1 and sizes.get("B") != 3


def other_dtype(evidence):
    """The right numbers in another dtype."""
    seen = evidence.kinds - {"argument changed", "library", "loop"}
    if seen != {"dtype"} or not _numbers_are_right(evidence):
        return None
    return "mask-wrong-dtype", "dtype-changed"


def _numbers_are_right(evidence):
    judged = [t for t in evidence.trials if t.probe.tolerance is not None]
    return all(t.right for t in judged)


def left_device(evidence):
    """What a function makes comes back on the CPU though another device is asked for."""
    on_cpu = all(s.got == "cpu" and not s.probe.module for s in evidence.verdict.symptoms)
    return "mask-wrong-device" if on_cpu and evidence.kinds == {"device"} else None


def lost_gradient(evidence):
    """Right numbers through which gradients do not, or not all, come back."""
    seen = evidence.kinds - {"argument changed", "library", "loop"}
    lost = seen & {"gradient missing", "gradient"}
    return "gradient-lost" if lost and seen <= lost | {"device"} else None


def differ_from_themselves(evidence):
    """Whether two equal calls give different results."""
    return any(map(_unlike, *_equal_calls(evidence)))


def _equal_calls(evidence):
    trials = evidence.trials
    pairs = [
        (first, second)
        for i, second in enumerate(trials)
        for first in trials[:i]
        if first.probe is second.probe and _same_call(first, second)
    ]
    return zip(*pairs, strict=True) if pairs else ((), ())


def _same_call(first, second):
    one, other = first.call.args, second.call.args
    return len(one) == len(other) and all(map(same_argument, one, other))


def same_argument(one, other):
    if isinstance(one, Tensor) and isinstance(other, Tensor):
        return same(one, other)
    return type(one) is type(other) and (one is other or one == other)


def _unlike(first, second):
    one, other = first.got, second.got
    if one is None or other is None or len(one) != len(other):
        return False
    return any(
        a.shape == b.shape and not close(a.nan_to_num(0), b.nan_to_num(0), 1e-4)
        for a, b in zip(one, other, strict=True)
    )


def one_size(evidence):
    """Right at the lesson's sizes alone, or up to some size, above which it fails or has another
    shape."""
    trials = [t for t in (*evidence.basic, *evidence.telling) if not t.is_easy]
    right = [t for t in trials if t.right]
    if not right or not evidence.telling or len(right) == len(trials):
        return None
    if all(t.right == (t.sizes.items() <= LESSON) for t in trials):
        return "hard-coded-size"
    if any(t.has_right_shape and not t.right for t in trials):
        return None
    limited = any(_is_limited(trials, name) for name in trials[0].sizes)
    return "hard-coded-size" if limited else None


def _is_limited(trials, name):
    """Whether it is right up to some value of a size and wrong above."""
    rights = {t.sizes[name] for t in trials if t.right}
    wrongs = {t.sizes[name] for t in trials if not t.right}
    return len(rights) > 2 and max(rights) < min(wrongs)


CERTAIN = (tampered, interface_changed)
CHANGED = (changed_layer,)
BESIDE = (changed_argument, called_library)
SAID = (other_dtype, left_device, lost_gradient, returned_extra)
OTHERS = (one_size, other_form)
