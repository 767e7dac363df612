"""Mistakes that are recognised by how an answer behaves, where no implementation need be compared.

Each function looks at the evidence and returns a slug or None. CERTAIN ones come before the
catalogue's implementations are compared, the OTHERS after; of these only the ones that hold
ANYWHERE know nothing of a step. What is seen BESIDE the numbers need not be why they are wrong.
"""

import re
from itertools import permutations

import torch
from torch import Tensor

from attention_lab.check.judge import UNCALLED, failure_of
from attention_lab.check.laws import no_leak
from attention_lab.check.numbers import close, same
from attention_lab.observation import Tag, Unknown

OF_MASK = re.compile(r"mask|tri[lu]|causal|future|blocked|closed|\binf\b")
LESSON = {"B": 2, "T": 5, "d_model": 16, "H": 4, "d_head": 4}.items()
HAS_LAYERS = ("project", "MultiHeadAttention")
ANY_CASTS = {"half", "bfloat16", "to", "type", "type_as"}
EXACT_CASTS = {"bool", "int", "long", "double"}
TWO_BYTES = (torch.float16, torch.bfloat16)
SCALED_AGAIN = 0.75  # a root of d_head = 2, the smallest there is to divide by, makes 0.71
LEAST_LOSS = 2**-17  # numbers in two bytes are wrong by 2**-12, a mean of some by less
# torch's words for what is written to a layer
REFUSED_CHANGES = ("a leaf Variable that requires", "as parameter 'weight'", "as parameter 'bias'")
FEW = 0.05  # of the numbers
SIZE_IS_FLOAT = re.compile(  # torch's words and Python's
    r"argument '(?!dim|shifts)\w+'.*must be tuple of ints.*float"
    r"|argument '(n|m|row|col|size|step|chunks|\w*sections|split_\w+|repeats)'.*int, not float"
    r"|(narrow|view|tensor_split|repeat_interleave)\(\) received .* got \([^)]*float"
    r"|'float' object cannot be interpreted as an integer"
    r"|slice indices must be integers",
    re.DOTALL,
)
OF_AXES = re.compile(r"shape|size|dim|axis|unpack|subscript|index out of range", re.IGNORECASE)
REFUSED_SIZES = re.compile(r"(?:shape '|sizes )\[([-\d, ]+)\]")  # torch's words


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


def changed_layer(evidence):
    """A layer's weights are others afterwards, or torch refused to change them."""
    refused = evidence.raised(*REFUSED_CHANGES)
    return "mutates-parameters" if refused or "layer changed" in evidence.kinds else None


def changed_argument(evidence):
    return "mutates-input" if "argument changed" in evidence.kinds else None


def called_library(evidence):
    return "forbidden-library-call" if "library" in evidence.kinds else None


def disagrees_with_itself(evidence):
    """Two equal calls give different results: something is kept if each instance begins rightly;
    there are new layers each time if given ones are not used; it is dropout if they resemble the
    right ones; else numbers are made of nothing."""
    for first, second in _equal_calls(evidence):
        parts = _unlike(first, second)
        if not parts:
            continue
        if first.probe.module and all(t.right for t in evidence.basic if not t.index):
            return "stale-cache"
        if any(_leaves_layer_out(trial, parts) for trial in (first, second)):
            return "ignores-given-layers"
        if _resembles(first, parts) or _reaches_layers(first) or _reaches_layers(second):
            return "dropout-always-on"
        if _reaches_input(first):
            return "ignores-given-layers" if evidence.step in HAS_LAYERS else None
        return "shape-only-stub"
    return None


def _equal_calls(evidence):
    for second in evidence.trials:
        for first in evidence.trials:
            if (
                first.probe is second.probe
                and first.index < second.index
                and _same_call(first, second)
            ):
                yield first, second


def _same_call(first, second):
    one, other = first.call.args, second.call.args
    return len(one) == len(other) and all(map(_same_argument, one, other))


def _same_argument(one, other):
    if isinstance(one, Tensor) and isinstance(other, Tensor):
        return same(one, other)
    return type(one) is type(other) and (one is other or one == other)


def _unlike(first, second):
    """Which of the tensors that came back differ, by their places."""
    one, other = first.got, second.got
    if one is None or other is None or len(one) != len(other):
        return []
    return [
        place
        for place, (a, b) in enumerate(zip(one, other, strict=True))
        if a.shape == b.shape and not close(a.nan_to_num(0), b.nan_to_num(0), 1e-4)
    ]


def _resembles(trial, parts):
    if not trial.has_right_shape:
        return False
    both = torch.stack([_one_vector(tensors, parts) for tensors in (trial.got, trial.wanted)])
    return bool(torch.corrcoef(both[:, both[0].isfinite()])[0, 1] > 0.5)


def _one_vector(tensors, parts):
    return torch.cat([tensors[part].flatten().double() for part in parts])


def _leaves_layer_out(trial, parts):
    """Whether gradients reach the input and not a layer that these results should come from."""
    weights = _gradients_of_weights(trial)
    if trial.probe.step == "project":
        weights = [weights[part] for part in parts if weights]
    return _reaches_input(trial) and any(gradient is None for gradient in weights)


def _reaches_layers(trial):
    weights = _gradients_of_weights(trial)
    return bool(weights) and all(gradient is not None for gradient in weights)


def _gradients_of_weights(trial):
    """Those of the layers' weights, in order; none where there are no layers or no gradients."""
    return trial.outcome.gradients[1::2] if trial.probe.step in HAS_LAYERS else ()


def _reaches_input(trial):
    """Whether a gradient reaches the first argument; where none was asked for, whether it may."""
    return not trial.outcome.gradients or trial.outcome.gradients[0] is not None


CERTAIN = (tampered, interface_changed, changed_layer, disagrees_with_itself)
BESIDE = (changed_argument, called_library)


# --- what was raised, what came back ---


def ambiguous_truth(evidence):
    return "ambiguous-truth-value" if evidence.raised("Boolean value of Tensor") else None


def float_size(evidence):
    """A size that is a float, and nothing else is wrong."""
    told = any(
        failure.type == "TypeError" and SIZE_IS_FLOAT.search(failure.message)
        for failure, _ in evidence.failures
    )
    return "float-size" if told and not evidence.wrong_numbers else None


def refused_view(evidence):
    """A view that does not fit the strides: of a fresh result, or only of strided input."""
    refused = [p for failure, p in evidence.failures if "view size is not comp" in failure.message]
    if not refused:
        return None
    if not any(probe.basic for probe in refused):
        return "contiguous-only"
    return "missing-contiguous" if evidence.step in ("merge_heads", "MultiHeadAttention") else None


def written_sizes(evidence):
    """It asks for a shape that no input has room for, with one number in it for all of them."""
    failed = [t.outcome.failure for t in evidence.wrong if t.outcome.failure]
    found = [REFUSED_SIZES.search(failure.message) for failure in failed]
    if len(found) < 2 or not all(found) or any(t.right for t in evidence.basic):
        return None
    asked = zip(*(match[1].split(", ") for match in found), strict=False)
    same = {sizes[0] for sizes in asked if len(set(sizes)) == 1}
    parts = {"3"} if evidence.step == "MultiHeadAttention" else set()  # q, k and v in one
    return "hard-coded-size" if same - {"1", "-1"} - parts else None


def constant(evidence):
    """One and the same number everywhere, at all sizes: nothing was computed."""
    if evidence.step not in ("split_heads", "merge_heads", "MultiHeadAttention"):
        return None
    outputs = [t.got[0].double() for t in evidence.wrong if t.got and t.got[0].numel() > 1]
    flat = [bool((o == o.flatten()[0]).all()) for o in outputs]
    return "shape-only-stub" if flat and all(flat) and len(evidence.wrong) > 3 else None


def returned_extra(evidence):
    """More things than one, the right one among them; or something that holds several."""
    if evidence.step not in ("attend", "MultiHeadAttention"):
        return None
    extra = bool(evidence.wrong) and all(map(_holds_more, evidence.wrong))
    return "returns-extra" if extra else None


def _holds_more(trial):
    output, (wanted,) = trial.outcome.output, trial.wanted
    if isinstance(output, Unknown):
        return output.type in ("dict", "OrderedDict")
    return isinstance(output, tuple) and any(
        isinstance(o, Tensor) and o.shape == wanted.shape and close(o, wanted, trial.tolerance)
        for o in output
    )


def other_form(evidence):
    """The right numbers in another shape or order of axes."""
    if evidence.step == "project":
        if any(s.got in ("NoneType", UNCALLED) for s in evidence.verdict.symptoms):
            return None
        telling = [t for t in evidence.basic if t.sizes["B"] != 3]  # 3 may be unpacked by chance
        return "wrong-return-shape" if all(map(_is_misshapen, telling)) else None
    if evidence.step == "causal_mask":
        tried = [t for t in evidence.basic if t.sizes["T"] > 1]
        several = len({t.got[0].shape for t in tried if t.got}) > 1
        misshapen = several and all(map(_is_misshapen, tried))
        return "wrong-return-shape" if misshapen else None
    tried = [t for t in evidence.wrong if t.sizes["T"] > 1]
    if not tried or not all(
        t.got and len(t.got) == 1 and _is_moved(*t.wanted, *t.got) for t in tried
    ):
        return None
    if evidence.step in ("attention_scores", "merge_heads"):
        return "wrong-return-shape"
    has_more_axes = any(t.got[0].dim() > t.wanted[0].dim() for t in tried)
    is_order = evidence.step in ("split_heads", "attend") and not has_more_axes
    return "wrong-axis-order" if is_order else None


def _is_misshapen(trial):
    return not trial.outcome.failure and not trial.has_right_shape


def _is_moved(right, got):
    """Whether `got` is `right` with its axes in another order, or with neighbours made one."""
    if got.numel() != right.numel():
        return False
    orders = (right.permute(order) for order in permutations(range(right.dim())))
    return any(
        _joins(moved.shape, got.shape) and close(got.flatten(), moved.flatten(), 1e-4)
        for moved in orders
        if moved.shape != got.shape or moved.stride() != right.stride()
    )


def _joins(sizes, joined):
    """Whether `joined` comes from `sizes` by making neighbours one; sizes of 1 do not count."""
    sizes, joined = [[n for n in s if n != 1] for s in (sizes, joined)]
    for size in joined:
        product = 1
        while product < size and sizes:
            product *= sizes.pop(0)
        if product != size:
            return False
    return not sizes


# --- dtype, device, gradients, calls, memory ---


def wrong_device(evidence):
    """Only the device is wrong. Where a new length is right, something is kept from an old one; so
    it is where a result stays on the device of an earlier call."""
    if any(s.kind == "device" and s.got == "meta" for s in evidence.verdict.symptoms):
        return "stale-cache"
    if evidence.kinds != {"device"} or evidence.step not in ("causal_mask", "MultiHeadAttention"):
        return None
    is_clash = all(map(failure_of, evidence.verdict.symptoms))
    if evidence.step == "MultiHeadAttention" and not is_clash:  # the result itself went to the CPU
        return None
    if not any(Tag.NEW_LENGTH in s.probe.tags for s in evidence.verdict.symptoms):
        return "stale-cache"
    beside_mask = [s.got for s in evidence.verdict.symptoms if _is_open(s)]
    of_mask = all(OF_MASK.search(failure.line) for failure in beside_mask)
    return "mask-wrong-device" if of_mask else None


def _is_open(symptom):
    """Whether it was seen in a call of the class that asks for no mask."""
    return symptom.probe.module and symptom.probe.calls[symptom.call].args[-1] is not True


def wrong_dtype(evidence):
    """The right numbers in another dtype."""
    tried = [t for t in evidence.trials if t.probe.basic or t.probe.around]
    if "dtype" not in evidence.kinds or not all(t.is_within(2e-2) for t in tried):
        return None
    return "mask-wrong-dtype" if evidence.step == "causal_mask" else "dtype-changed"


def imprecise(evidence):
    """Near the right numbers everywhere, and nowhere near enough: digits were lost in a cast."""
    tried = [t for t in evidence.basic if t.sizes["T"] > 1]
    if not tried or not all(map(_is_rounded_off, tried)):
        return None
    told = _casts(evidence.called) or all(map(_has_few_digits, tried))
    return "dtype-changed" if told else None


def _casts(called):
    """Whether torch was asked for a number type that may have fewer digits."""
    return "_to_copy" in called and bool(called & ANY_CASTS or not called & EXACT_CASTS)


def _has_few_digits(trial):
    """Whether all numbers are such as fit into two bytes."""
    return any(all(torch.equal(g, g.to(kind).to(g)) for g in trial.got) for kind in TWO_BYTES)


def _is_rounded_off(trial):
    """Whether all that is wrong is so by little and without a rule."""
    if not trial.has_right_shape:
        return False
    pairs = [(g.double(), w) for g, w in zip(trial.got, trial.wanted, strict=True)]
    wrong = [(g - w, w) for g, w in pairs if not close(g, w, trial.tolerance)]
    return bool(wrong) and all(_has_no_rule(error, wanted) for error, wanted in wrong)


def _has_no_rule(error, wanted):
    """Whether errors are small, and no factor, no constant and no bias explains them."""
    if not LEAST_LOSS < error.norm() / wanted.norm() < 1e-2:  # nor where anything is NaN
        return False
    if error.numel() < 100:  # so few that some rule explains them by chance
        return True
    rules = torch.stack([wanted.flatten(), torch.ones(wanted.numel(), dtype=torch.float64)], dim=1)
    fitted = rules @ torch.linalg.lstsq(rules, error.reshape(-1, 1)).solution
    bias = error.flatten(0, -2).mean(0)
    left = min((error - fitted.view_as(error)).norm(), (error - bias).norm())
    return bool(left > 0.6 * error.norm())


def float32_only(evidence):
    """It raises in float64 and nowhere else."""
    raised = [probe for _, probe in evidence.failures]
    if raised and all(Tag.FLOAT64 in p.tags for p in raised) and not evidence.wrong_numbers:
        return "dtype-hard-coded"
    return None


def looped(evidence):
    form = evidence.kinds & {"type", "count"}  # several tensors are no result of a loop
    return "python-loop-over-heads" if "loop" in evidence.kinds and not form else None


def lost_gradient(evidence):
    """Right numbers through which gradients do not, or not all, come back."""
    if evidence.wrong_numbers or "gradient nan" in evidence.kinds:
        return None
    if "gradient error" in evidence.kinds and evidence.raised("inplace operation"):
        return "backward-broken-inplace"
    lost = evidence.kinds & {"gradient error", "gradient missing", "gradient"}
    left_torch = evidence.raised("requires grad", "Inference tensors")
    return "gradient-lost" if lost or left_torch else None


def only_in_order(evidence):
    """Right but where the input's memory is not in order."""
    wrong = [s.probe for s in evidence.verdict.symptoms]
    in_order = [p for p in wrong if not any(_is_strided(c) for c in p.calls)]
    return "contiguous-only" if wrong and not in_order else None


def _is_strided(call):
    return any(isinstance(arg, Tensor) and not arg.is_contiguous() for arg in call.args)


def out_of_date(evidence):
    """What an earlier call left behind is used in a later one."""
    if evidence.step == "causal_mask":
        return _old_mask(evidence)
    if evidence.step != "MultiHeadAttention":
        return _old_argument(evidence) or _old_result(evidence)
    if evidence.raised("has no attribute"):
        return None
    in_turn = [t for t in evidence.trials if Tag.IN_TURN in t.probe.tags]
    ordinary = [t for t in evidence.trials if t.probe.basic or t.sizes["T"] > 100]
    plain_again = [t for t in ordinary if t.index and len(t.call.args) == 1]
    if _begins_rightly((*ordinary, *in_turn)) and not all(t.right for t in in_turn + plain_again):
        return "stale-cache"
    return _old_result(evidence)


def _begins_rightly(trials):
    """Whether an instance's first call is right each time, with a mask and without."""
    first = [t for t in trials if not t.index]
    return all(t.right for t in first) and any(t.causal for t in first)


def _old_result(evidence):
    """Gradients are lost in calls that are made once more, and in no first one."""
    lost = {(s.probe, s.call) for s in evidence.verdict.symptoms if s.kind.startswith("gradient")}
    again = {(second.probe, second.index) for _, second in _equal_calls(evidence)}
    return "stale-cache" if lost and lost <= again else None


def _old_argument(evidence):
    """Where no mask is given, that of an earlier call is used."""
    if evidence.step != "masked_softmax" or not all(t.right for t in evidence.trials if t.masked):
        return None
    kept, used = None, []
    for trial in evidence.trials:
        if trial.masked:
            kept = trial.call.args[1]
        elif trial.got and not trial.right:
            used.append(_is_softmax_under(trial, kept))
    return "stale-cache" if used and all(used) else None


def _is_softmax_under(trial, mask):
    scores = trial.call.args[0].double()
    fits = trial.has_right_shape and mask is not None and mask.shape == scores.shape[-2:]
    return fits and close(trial.got[0], (scores + mask).softmax(-1), trial.tolerance)


def _old_mask(evidence):
    """A mask that is right for an earlier call comes back once more."""
    dtypes = {t.got[0].dtype for t in evidence.trials if t.got}
    for i, trial in enumerate(evidence.trials):
        if not trial.got or not evidence.trials[0].right:
            return None
        T, _, asked = (*trial.call.args, None, None)[:3]
        if trial.right and T > 1 and trial.got[0].dtype is not (asked or trial.got[0].dtype):
            return "stale-cache" if len(dtypes) > 1 else None
        earlier = [t.got[0] for t in evidence.trials[:i] if t.right]
        if not trial.right and any(_same_argument(trial.got[0], mask) for mask in earlier):
            return "stale-cache"
    return None


# --- numbers ---


def finite_mask(evidence):
    """A causal mask whose blocked cells hold finite numbers, and one of them not low enough."""
    if evidence.step != "causal_mask":
        return None
    if not all(t.has_right_shape and not t.got[0].tril().any() for t in evidence.trials):
        return None
    above = [_above(t.got[0]) for t in evidence.trials if t.sizes["T"] > 1]
    highest = {float(f"{cells.max():.6g}") for cells in above}
    if len(highest) != 1:
        return None
    (fill,) = highest
    if abs(fill) < 0.1:
        return "mask-tiny-value" if all(cells.abs().max() < 0.1 for cells in above) else None
    return "mask-finite-value" if -3e4 <= fill <= -2 else None


def _above(mask):
    """The cells above the diagonal."""
    return mask[torch.ones_like(mask, dtype=torch.bool).triu(1)].double()


def only_large_scores(evidence):
    """Right until scores are large: exp overflows, or blocked scores are not low enough."""
    if evidence.step not in ("masked_softmax", "MultiHeadAttention"):
        return None
    if not all(Tag.LARGE in s.probe.tags for s in evidence.verdict.symptoms):
        return None
    large = [t for t in evidence.trials if Tag.LARGE in t.probe.tags and t.has_right_shape]
    if any(bool(t.got[0].isnan().any()) for t in large):
        return "softmax-overflow"
    if evidence.step == "MultiHeadAttention":
        return "mask-finite-value" if _lets_last_through(large) else None
    if any(map(_has_leak, large)):
        return "mask-finite-value"
    wrong = [t for t in large if not t.right]
    lost = all(map(_is_lost_in_rows, wrong)) and not all(t.masked for t in wrong)
    return "softmax-overflow" if lost else None


def _has_leak(trial):
    """Whether weight goes where the mask lets none through."""
    return trial.masked and bool((trial.got[0] * (trial.call.args[1] != 0)).any())


def _lets_last_through(trials):
    """Whether earlier rows of a causal attention move with the last token."""
    outputs = {}
    for trial in trials:
        outputs.setdefault(trial.probe, []).append(trial.got[0])
    return any(len(o) > 1 and no_leak(probe, o) is not None for probe, o in outputs.items())


def _is_lost_in_rows(trial):
    """Whether rows are empty, and only they are wrong."""
    (got,), (wanted,) = trial.got, trial.wanted
    is_empty = (got == 0).all(-1, keepdim=True)
    return close(torch.where(is_empty, wanted, got), wanted, trial.tolerance)


def rounded(evidence):
    """Scores with only so many decimals, and no further from the right ones than that."""
    if evidence.step != "attention_scores" or not evidence.wrong:
        return None
    within = [all(_is_rounded(t, n) for t in evidence.basic) for n in range(5)]
    return "rounded-scores" if any(within) else None


def _is_rounded(trial, decimals):
    if not trial.has_right_shape:
        return False
    got, wanted = trial.got[0].double(), trial.wanted[0]
    steps = got * 10**decimals
    whole = (steps - steps.round()).abs().max() < 0.02
    return bool(whole and (got - wanted).abs().max() < 1.02 * 10**-decimals)


def heads_alike(evidence):
    """Every head shows the same, though the right ones differ."""
    if evidence.step not in ("split_heads", "attention_scores", "attend"):
        return None
    tried = [t for t in evidence.wrong if t.sizes["H"] > 1]
    if not tried or not all(map(_has_heads_alike, tried)):
        return None
    return "every-head-same-slice" if evidence.step == "split_heads" else "heads-mixed"


def _has_heads_alike(trial):
    if not trial.has_right_shape:
        return False
    (got,) = trial.got
    return bool(got.any()) and close(got, got[:, :1].expand_as(got), 1e-5)


def scaled_projections(evidence):
    """Each of q, k and v is right but for a factor."""
    if evidence.step != "project" or not evidence.wrong:
        return None
    return "scale-in-wrong-step" if all(map(_is_scaled, evidence.wrong)) else None


def _is_scaled(trial):
    if not trial.has_right_shape:
        return False
    factors = [_factor(g, w) for g, w in zip(trial.got, trial.wanted, strict=True)]
    is_smaller = any(abs(factor - 1) > 1e-3 for factor in factors) and max(factors) < 1.001
    return is_smaller and min(factors) > 0


def _factor(got, right):
    """The number that `got` is `right` times, or 0 if there is none."""
    factor = float((got.double() * right).sum() / (right * right).sum())
    return factor if close(got, factor * right, 1e-4) else 0.0


def scaled_scores(evidence):
    """Weights of scores that were made clearly smaller before the softmax."""
    if evidence.step != "masked_softmax":
        return None
    tried = [t for t in evidence.wrong if t.sizes["T"] > 1]
    factors = [_temper(trial) for trial in tried]
    return "double-scale" if tried and all(0 < f < SCALED_AGAIN for f in factors) else None


def _temper(trial):
    """What the logarithms of weights are, row by row, times what they should be, or 0."""
    if not trial.has_right_shape:
        return 0.0
    got, right = trial.got[0].double(), trial.wanted[0]
    is_open = right > 0
    if bool((got[~is_open] != 0).any() or (got[is_open] <= 0).any() or got.isnan().any()):
        return 0.0
    count = is_open.sum(-1, keepdim=True)
    logs = [torch.where(is_open, w, 1).log() for w in (got, right)]
    centred = [(log - log.sum(-1, keepdim=True) / count) * is_open for log in logs]
    share_one = close(got.sum(-1), torch.ones_like(got.sum(-1)), 1e-4)
    return _factor(*centred) if share_one else 0.0


def guarded_sum(evidence):
    """The row's sum has the same number added to it everywhere, with or without the row's largest
    score taken off first."""
    if evidence.step != "masked_softmax" or not evidence.wrong:
        return None
    both = [[_added_to_sum(t, shifted) for t in evidence.basic] for shifted in (True, False)]
    found = any(None not in added and _is_one_number(torch.cat(added)) for added in both)
    return "softmax-eps" if found else None


def _added_to_sum(trial, shifted):
    """What was added to each row's sum of exp, or None if rows are wrong in another way."""
    if not trial.has_right_shape:
        return None
    (got,), (right,) = trial.got, trial.wanted
    rows = got.double().sum(-1, keepdim=True)
    if not (rows > 0).all() or not close(got, rows * right, trial.tolerance):
        return None
    largest = right.amax(-1, keepdim=True)
    scores = trial.call.args[0].double()
    best = scores.gather(-1, right.argmax(-1, keepdim=True))
    power = torch.ones_like(best) if shifted else best.exp()
    return (power / largest * (1 / rows - 1)).flatten()


def _is_one_number(added):
    return bool(added.min() > 1e-6 and added.max() - added.min() < 0.05 * added.max())


def fixed_scale(evidence):
    """The scores are divided by the same number whatever d_head is."""
    if evidence.step != "attention_scores" or not evidence.basic:
        return None
    if not all(trial.has_right_shape for trial in evidence.basic):
        return None
    factors = [_factor(*t.got, *t.wanted) / t.sizes["d_head"] ** 0.5 for t in evidence.basic]
    same_number = max(factors) - min(factors) < 1e-3 * max(factors)
    if not same_number:
        return None
    return "stale-cache" if evidence.trials[0].right else "hard-coded-size"


def _is_scaled_otherwise(evidence):
    """Whether scores are right but for factors, so that only these can tell why."""
    if evidence.step != "attention_scores":
        return False
    telling = [t for t in evidence.basic if not _is_easy(t.sizes)]
    return all(t.has_right_shape and _factor(*t.got, *t.wanted) for t in telling)


def unused_layers(evidence):
    """Gradients reach the input, but none of the layers that were given."""
    if evidence.step not in HAS_LAYERS:
        return None
    gradients = [t.outcome.gradients for t in evidence.wrong if t.outcome.gradients]
    unused = [g[0] is not None and all(part is None for part in g[1:7]) for g in gradients]
    return "ignores-given-layers" if unused and all(unused) else None


# --- right at some sizes only ---


def reads_globals(evidence):
    return "uses-notebook-globals" if any(s.reads for s in evidence.observations) else None


def sizes_of_notebook(evidence):
    """A number of the notebook is read, and it is right at some sizes only, or its result has the
    same sizes whatever comes in."""
    telling = [t for t in evidence.basic if not _is_easy(t.sizes)]
    at_some = any(t.right for t in telling) and not all(t.right for t in telling)
    shapes = [tuple(g.shape for g in t.got) for t in telling if t.got]
    always_same = len(shapes) == len(telling) > 1 and len(set(shapes)) == 1
    told = (at_some and not _is_scaled_otherwise(evidence)) or always_same
    return reads_globals(evidence) if told else None


def dropped_ones(evidence):
    """It has another shape, or fails because of one, exactly where some size is 1."""
    has_one = bool(evidence.wrong) and all(1 in t.sizes.values() for t in evidence.wrong)
    dropped = has_one and any(map(_has_other_axes, evidence.wrong))
    return "squeeze-drops-dims" if dropped else None


def _has_other_axes(trial):
    failure = trial.outcome.failure
    return bool(OF_AXES.search(failure.message)) if failure else not trial.has_right_shape


def no_default(evidence):
    """It asks for `causal` in every call."""
    if evidence.step != "MultiHeadAttention" or not evidence.raised("required positional argument"):
        return None
    left_out = bool(evidence.wrong) and all(len(t.call.args) == 1 for t in evidence.wrong)
    return "wrong-default" if left_out else None


def mask_of_batch_size(evidence):
    """With a mask the last axis, T keys, meets one of size B."""
    causal = [t for t in evidence.basic if t.causal and t.outcome.failure and t.sizes["T"] > 1]
    if evidence.step != "MultiHeadAttention" or not causal:
        return None
    meets = all(_meets(t, "B", axis=3) for t in causal)
    return "mask-of-batch-size" if meets else None


def mask_beside_batch(evidence):
    """With a mask it fails unless the batch is 1 or as large as the number of heads."""
    causal = [t for t in evidence.basic if t.causal]
    if (
        evidence.step == "MultiHeadAttention"
        and causal
        and all(t.right == (t.sizes["B"] in (1, t.sizes["H"])) for t in causal)
        and all(_meets(t, "B", axis=1) for t in causal if t.outcome.failure and t.sizes["H"] > 1)
    ):
        return "mask-broadcast-batch-heads"
    return None


def _meets(trial, size, axis):
    """Whether it failed because something of this size lies beside an axis of another size."""
    told = f"({trial.sizes[size]})", f"non-singleton dimension {axis}"
    return all(words in trial.outcome.failure.message for words in told)


def fixed_sizes(evidence):
    """Right only for one value of some size, or only up to one; with or without a mask."""
    tried = [t for t in evidence.trials if t.probe.basic or t.sizes["T"] > 100]
    if _is_scaled_otherwise(evidence) or _hangs_on_order(tried):
        return None
    groups = [[t for t in tried if t.masked == masked] for masked in (False, True)]
    slugs = {_fixed(group) for group in groups if not all(t.right for t in group)}
    return slugs.pop() if len(slugs) == 1 else None


def _hangs_on_order(trials):
    """Whether only later calls of an instance are wrong: what was kept may explain that, too."""
    of_class = [t for t in trials if t.probe.module]
    return bool(of_class) and _begins_rightly(of_class)


def _fixed(trials):
    if any(_is_nearly_right(t) for t in trials if not t.right and t.sizes["T"] < 100):
        return None
    if _is_limited(trials):
        return "hard-coded-size"
    if any(t.masked and t.probe.step == "masked_softmax" for t in trials):
        return None  # a mask is drawn: it may be right by chance at any size
    telling = [t for t in trials if not _is_easy(t.sizes)]
    if not any(t.right for t in telling):
        return None
    if all(t.right == (t.sizes.items() <= LESSON) for t in telling):
        return "hard-coded-size"
    fixed = {name: _only_right(telling, name) for name in telling[0].sizes}
    if fixed.get("d_head") and all(t.probe.module and t.has_right_shape for t in telling):
        return None  # what stands for the root of d_head may be right for one of them by chance
    if fixed.get("B") == 1:
        return _of_batches(telling)
    return "hard-coded-size" if any(fixed.values()) else None


def _only_right(trials, name):
    """The one value of a size for which all is right, and is for no other; else None."""
    rights = {t.sizes[name] for t in trials if t.right}
    one_is = len(rights) == 1 and all(t.right == (t.sizes[name] in rights) for t in trials)
    return rights.pop() if one_is else None


def _of_batches(trials):
    """What is right for a batch of one only: is a batch too much for it, or are they mixed?"""
    mixed = all(t.has_right_shape for t in trials)
    return "batch-mixed" if mixed else "batch-one-only"


def _is_nearly_right(trial):
    """Whether so few numbers are wrong that no size can be."""
    if not trial.has_right_shape:
        return False
    near = [
        ((g.double() - w).abs() <= 1e-4 + 1e-4 * w.abs()) | (g == w)
        for g, w in zip(trial.got, trial.wanted, strict=True)
    ]
    return bool(torch.cat([n.flatten() for n in near]).double().mean() > 1 - FEW)


def _is_limited(trials):
    """Whether it is right up to some T and wrong above."""
    right, wrong = [
        {t.sizes["T"] for t in trials if t.right == is_right} for is_right in (True, False)
    ]
    return bool(wrong) and len(right) > 2 and max(right) < min(wrong)


def _is_easy(sizes):
    """Sizes at which many a mistake makes no difference."""
    has_one = 1 in (sizes.get("H"), sizes["T"], sizes.get("d_head"))
    return has_one or sizes.get("B") == sizes["T"] == sizes.get("H")


OTHERS = (
    ambiguous_truth,
    float_size,
    no_default,
    refused_view,
    written_sizes,
    constant,
    returned_extra,
    dropped_ones,
    other_form,
    wrong_device,
    out_of_date,
    rounded,
    wrong_dtype,
    float32_only,
    looped,
    lost_gradient,
    only_in_order,
    finite_mask,
    only_large_scores,
    heads_alike,
    scaled_projections,
    scaled_scores,
    guarded_sum,
    unused_layers,
    fixed_scale,
    sizes_of_notebook,
    mask_of_batch_size,
    mask_beside_batch,
    fixed_sizes,
    imprecise,
)
ANYWHERE = (ambiguous_truth, float_size, wrong_dtype, float32_only, lost_gradient)
