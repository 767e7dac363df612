"""The trials of every step.

Sizes are pairwise distinct where it matters, all weights and biases are non-zero, and numbers come
from a generator of their own, so that neither the notebook's seed nor the learner's draws touch
them.
"""

import math
from dataclasses import dataclass, replace
from itertools import chain, permutations

import torch

from attention_lab.check import steps
from attention_lab.check.references import as_function, in_float64, stages
from attention_lab.observation import Call, Layer, Module, Pipeline, Probe

CPU, META = torch.device("cpu"), torch.device("meta")
ELSEWHERE = "another device than the CPU"
NOT_IN_ORDER = "an input whose memory is not in order"
SLICED = "an input that is a slice of a larger tensor"
HEADS_COUNTED = (2, 4, 8)
# What a loop over features goes over is the same for all, so that it costs the same: d_model, or
# d_head where heads are apart already.
COUNTED_WIDTH = 24
COUNTED_HEAD = 12
LARGE = 1e4
CLEAR = 14.0  # a score that is lower by this gets a millionth of the weight
HUGE = 1e6


@dataclass(frozen=True)
class Sizes:
    """B batch, T tokens, d_model features, H heads."""

    B: int
    T: int
    d_model: int
    H: int

    @property
    def d_head(self):
        return self.d_model // self.H

    def known_to(self, step):
        """Return in words the sizes that the arguments of `step` have."""
        heads = f"{self.H} head{'s'[: self.H > 1]}"
        B, T, d_model, d_head = (
            f"{name}={getattr(self, name)}" for name in ("B", "T", "d_model", "d_head")
        )
        known = {
            "project": (B, T, d_model),
            "causal_mask": (T,),
            "masked_softmax": (B, heads, T),
            "split_heads": (B, T, d_model, heads),
            "MultiHeadAttention": (B, T, d_model, heads),
        }
        return ", ".join(known.get(step, (B, heads, T, d_head)))


DISTINCT = Sizes(3, 7, 30, 5)
OTHER = Sizes(2, 9, 12, 3)
ALL_ALIKE = Sizes(4, 4, 16, 4)  # any confusion of axes runs here, and its numbers name it
LESSON = Sizes(2, 5, 16, 4)  # the example of the text, for answers that fit nothing else
VISIBLE = (DISTINCT, OTHER)
EDGES = (Sizes(2, 6, 5, 1), Sizes(4, 1, 6, 2), Sizes(1, 8, 8, 2), Sizes(2, 3, 4, 4))
FRESH = Sizes(2, 10, 21, 3)  # T and d_head occur nowhere else: nothing of them is kept yet
LONGER = Sizes(2, 67, 8, 2)
LONG = Sizes(1, 1030, 2, 1)


def probes(step: str, seed: int, hidden: bool = False) -> tuple[Probe, ...]:
    """Return the probes of `step`: the visible ones, then the hidden ones if asked for."""
    draw = Draw(seed)
    make = _class_probes if step == "MultiHeadAttention" else _function_probes
    return tuple(make(step, draw, hidden))


class Draw:
    """Numbers from a generator of its own."""

    def __init__(self, seed):
        self.generator = torch.Generator("cpu").manual_seed(seed)

    def normal(self, *shape, scale=1.0):
        numbers = torch.randn(shape, generator=self.generator, dtype=torch.float64, device="cpu")
        return (scale * numbers).to(torch.float32)

    def layer(self, d_model):
        """Weights that keep the spread of what goes through, with a bias that matters."""
        weight = self.normal(d_model, d_model, scale=1.4 / math.sqrt(d_model))
        return Layer(weight, self.normal(d_model, scale=0.5))

    def layers(self, d_model):
        return tuple(self.layer(d_model) for _ in range(4))

    def mask(self, T):
        """An additive mask that is not causal: about half closed, the diagonal and a whole row
        open, where one sees what is done to open scores."""
        blocked = torch.rand(T, T, generator=self.generator, device="cpu") < 0.5
        blocked.fill_diagonal_(False)
        blocked[int(torch.randint(T, (), generator=self.generator))] = False
        return torch.zeros(T, T, device="cpu").masked_fill(blocked, -math.inf)

    def permutation(self, T):
        """A permutation of T tokens that leaves no token where it was."""
        return (torch.arange(T) + 1 + int(torch.randint(T - 1, (), generator=self.generator))) % T


# --- steps that are functions ---


def _function_probes(step, draw, hidden):
    for sizes, gradients in zip(VISIBLE, (2, 1), strict=True):
        call = Call(arguments(step, draw, sizes))
        calls = (with_gradient(step, draw, call),) * gradients + (call,) * (2 - gradients)
        yield Probe(step, sizes.known_to(step), calls, basic=True)
    for sizes in (ALL_ALIKE, LESSON):
        yield Probe(step, sizes.known_to(step), (Call(arguments(step, draw, sizes)),), basic=True)
    if step not in ("project", "causal_mask"):
        yield from _counted(step, draw)
    if step == "masked_softmax":
        sizes = Sizes(2, 5, 12, 3)
        calls = (Call(arguments(step, draw, sizes)[:1]),)
        yield Probe(step, sizes.known_to(step), calls, basic=True)
    if step == "causal_mask":
        yield Probe(step, "T alone given", (Call((6,)),), basic=True)
        calls = tuple(Call((T, CPU, torch.float64)) for T in (1, 8))
        yield Probe(step, "float64 asked for", calls)
    if hidden:
        yield from _hidden_function_probes(step, draw)
        yield from EXTRA.get(step, _nothing)(step, draw)


def _hidden_function_probes(step, draw):
    for sizes in (*EDGES, LONGER):
        calls = _calls(step, arguments(step, draw, sizes))
        yield Probe(step, sizes.known_to(step), calls, basic=True)
    calls = _calls(step, arguments(step, draw, FRESH))
    yield Probe(step, "float64 numbers, then float32 ones", (*in_float64(calls), *calls))
    if step != "causal_mask":
        calls = [_calls(step, arguments(step, draw, OTHER)) for _ in range(2)]
        yield Probe(step, "two inputs of the same size", tuple(chain(*calls)))
    calls = _calls(step, tuple(_transposed(a) for a in arguments(step, draw, OTHER)))
    yield Probe(step, NOT_IN_ORDER, tuple(with_gradient(step, draw, call) for call in calls))
    calls = _calls(step, tuple(_sliced(a) for a in arguments(step, draw, OTHER)))
    yield Probe(step, SLICED, calls)
    calls = _calls(step, tuple(_on_meta(a) for a in arguments(step, draw, DISTINCT)))
    yield Probe(step, ELSEWHERE, calls)
    for causal in (False, True):
        yield from _in_pipeline(step, draw, causal)


def _calls(step, args):
    """A call with all arguments; for the softmax also one without its mask."""
    without = (Call(args[:1]),) if step == "masked_softmax" else ()
    return (Call(args), *without)


def arguments(step, draw, sizes):
    """Return arguments for one call of a function at `sizes`."""
    B, T, d_model, H, d_head = sizes.B, sizes.T, sizes.d_model, sizes.H, sizes.d_head
    match step:
        case "project":
            return draw.normal(B, T, d_model), *draw.layers(d_model)[:3]
        case "split_heads":
            return draw.normal(B, T, d_model), H
        case "attention_scores":
            return draw.normal(B, H, T, d_head, scale=1.4), draw.normal(B, H, T, d_head)
        case "causal_mask":
            return T, CPU, torch.float32
        case "masked_softmax":
            return draw.normal(B, H, T, T, scale=1.5), draw.mask(T)
        case "attend":
            scores = draw.normal(B, H, T, T, scale=1.5)
            return scores.softmax(-1), draw.normal(B, H, T, d_head)
        case "merge_heads":
            return (draw.normal(B, H, T, d_head),)
    raise ValueError(f"there is no step {step!r}")


def with_gradient(step, draw, call):
    """Return `call` with a gradient to send backwards, where the step has one."""
    if step == "causal_mask":
        return call
    with torch.no_grad():
        right = getattr(steps, step)(*(as_function(a) for a in call.args))
    outputs = right if isinstance(right, tuple) else (right,)
    upstream = tuple(draw.normal(*o.shape).to(o.dtype) for o in outputs)
    constants = (1,) if step == "masked_softmax" else ()
    return replace(call, upstream=upstream, constants=constants)


def _counted(step, draw):
    """The same tokens with more and more heads: a loop over heads makes more and more calls."""
    for H in HEADS_COUNTED:
        apart = step in ("attention_scores", "masked_softmax", "attend")
        args = arguments(step, draw, Sizes(2, 5, H * COUNTED_HEAD if apart else COUNTED_WIDTH, H))
        yield Probe(step, f"{H} heads, calls counted", (Call(args),), heads=H)


def _in_pipeline(step, draw, causal):
    """The step inside an otherwise right attention, as often as it is taken there."""
    layers = draw.layers(DISTINCT.d_model)
    x = draw.normal(DISTINCT.B, DISTINCT.T, DISTINCT.d_model)
    pipeline = Pipeline(x, layers, DISTINCT.H, causal)
    taken = stages(pipeline).get(step, ())
    calls = tuple(Call(args) for args, _ in taken)
    if calls:
        about = f"a whole {'causal ' if causal else ''}attention around it"
        yield Probe(step, about, calls, pipeline=pipeline)


def _transposed(value):
    """The same numbers, laid out in memory with the order of the axes reversed."""
    if not isinstance(value, torch.Tensor):
        return value
    order = tuple(reversed(range(value.dim())))
    return value.permute(order).contiguous().permute(order)


def _sliced(value):
    """The same numbers, every second cell of a tensor twice as wide."""
    if not isinstance(value, torch.Tensor):
        return value
    wide = torch.zeros(*value.shape[:-1], 2 * value.shape[-1], dtype=value.dtype, device="cpu")
    wide[..., ::2] = value
    return wide[..., ::2]


def _on_meta(value):
    if isinstance(value, torch.Tensor):
        return value.to("meta")
    if isinstance(value, Layer):
        return Layer(value.weight.to("meta"), value.bias.to("meta"))
    return META if value == CPU else value


# --- what only one step needs ---


def _nothing(step, draw):
    return ()


def _large_projections(step, draw):
    x, *layers = arguments(step, draw, OTHER)
    yield Probe(step, "large inputs", (Call((100 * x, *layers)),), tolerance=1e-4)


def _large_scores(step, draw):
    q, k = arguments(step, draw, OTHER)
    large = q * (LARGE / steps.attention_scores(q, k).abs().max())
    yield Probe(step, "scores near 10000", (Call((large, k)),), tolerance=5e-3)


def _masks(step, draw):
    sizes = [(T, CPU, torch.float32) for T in (4, 11, 4, 1)]
    yield Probe(step, "several T in turn", tuple(Call(args) for args in sizes), basic=True)
    for T, dtypes in ((6, (torch.float32, torch.float64)), (13, (torch.float64, torch.float32))):
        calls = [Call((T, CPU, dtype)) for dtype in dtypes]
        yield Probe(step, "float32 and float64 in turn", (*calls, Call((T, None, None))))
    yield Probe(step, "a long sequence", (Call((LONG.T, CPU, torch.float32)),))
    for device, about in ((META, f"a new T on {ELSEWHERE}"), (CPU, "the same T on the CPU")):
        calls = tuple(Call((T, device, torch.float32)) for T in (1, 17))
        yield Probe(step, about, calls)


def _softmaxes(step, draw):
    B, H, T = DISTINCT.B, DISTINCT.H, DISTINCT.T
    causal = steps.causal_mask(T)
    scores = draw.normal(B, H, T, T, scale=1.5)
    calls = tuple(Call((scores, mask)) for mask in (causal, draw.mask(T), None, causal))
    yield Probe(step, "a causal mask, another mask and none in turn", calls)
    large = scores * (LARGE / scores.abs().max())
    calls = tuple(Call((large, mask)) for mask in (None, causal, draw.mask(T)))
    yield Probe(step, "scores near 10000", calls, tolerance=5e-3)
    calls = (Call((scores - LARGE, causal)), Call((scores + LARGE, causal)))
    yield Probe(step, "scores that are all near -10000, all near 10000", calls, tolerance=5e-3)


def _constant_values(step, draw):
    weights, v = arguments(step, draw, DISTINCT)
    same = v[:, :, :1].expand_as(v).contiguous()
    yield Probe(step, "the same value at every token", (Call((weights, same)),), law="constant")


EXTRA = {
    "project": _large_projections,
    "attention_scores": _large_scores,
    "causal_mask": _masks,
    "masked_softmax": _softmaxes,
    "attend": _constant_values,
}


# --- the class ---


def _class_probes(step, draw, hidden):
    ways = ((), (True,))  # causal left out and given, each once before and once after the other
    for sizes, (first, last) in zip(VISIBLE, permutations(ways), strict=True):
        x = draw.normal(sizes.B, sizes.T, sizes.d_model)
        upstream = (draw.normal(*x.shape),)
        first, last = Call((x, *first), upstream), Call((x, *last), upstream)
        calls = (first, replace(last, upstream=()), Call((x, False)), last)
        yield Probe(step, sizes.known_to(step), calls, module=_module(draw, sizes), basic=True)
    for sizes in (ALL_ALIKE, LESSON):
        x = draw.normal(sizes.B, sizes.T, sizes.d_model)
        calls = (Call((x,)), Call((x, True)))
        yield Probe(step, sizes.known_to(step), calls, module=_module(draw, sizes), basic=True)
    for H in HEADS_COUNTED:
        sizes = Sizes(2, 5, COUNTED_WIDTH, H)
        x = draw.normal(sizes.B, sizes.T, sizes.d_model)
        calls = (Call((x,)), Call((x, True)))
        about = f"{H} heads, calls counted"
        yield Probe(step, about, calls, module=_module(draw, sizes), heads=H)
    if hidden:
        yield from _hidden_class_probes(step, draw)


def _module(draw, sizes, training=True):
    return Module(sizes.d_model, sizes.H, draw.layers(sizes.d_model), training)


def _hidden_class_probes(step, draw):
    for sizes in EDGES:
        x = draw.normal(sizes.B, sizes.T, sizes.d_model)
        calls = (Call((x,)), Call((x, True)))
        yield Probe(step, sizes.known_to(step), calls, module=_module(draw, sizes), basic=True)
    x = draw.normal(DISTINCT.B, DISTINCT.T, DISTINCT.d_model)
    module = _module(draw, DISTINCT)
    both = (Call((x,)), Call((x, True)))
    yield Probe(step, "float64 numbers", in_float64(both), module=in_float64(module))
    calls = tuple(replace(call, upstream=(draw.normal(*x.shape),)) for call in both)
    yield Probe(step, "eval mode", calls, module=replace(module, training=False), heads=0)
    for layout, about in ((_transposed, NOT_IN_ORDER), (_sliced, SLICED)):
        calls = (Call((layout(x),)), Call((layout(x), True)))
        yield Probe(step, about, calls, module=module)
    on_meta = replace(module, layers=tuple(_on_meta(layer) for layer in module.layers))
    x = _on_meta(draw.normal(1, 15, DISTINCT.d_model))
    yield Probe(step, f"a new T on {ELSEWHERE}", (Call((x,)), Call((x, True))), module=on_meta)
    x = draw.normal(1, 17, DISTINCT.d_model)
    calls = (Call((x, True)), Call((_on_meta(x), True), layers=on_meta.layers))
    yield Probe(step, f"the CPU, then {ELSEWHERE}", calls, module=module)
    x = draw.normal(LONGER.B, LONGER.T, LONGER.d_model)
    module = _module(draw, LONGER)
    yield Probe(step, LONGER.known_to(step), (Call((x,)),), module=module, basic=True)
    yield _several_lengths(step, draw)
    yield from _changed_on_the_way(step, draw)
    yield _one_long_sequence(step, draw)
    yield _permuted(step, draw)
    yield _same_tokens(step, draw)
    for size in (LARGE, HUGE):
        yield _large_class_scores(step, draw, size)


def _several_lengths(step, draw):
    sizes = Sizes(2, 5, 12, 3)
    inputs = [draw.normal(B, T, sizes.d_model) for B, T in ((2, 5), (3, 11), (1, 2), (2, 5))]
    calls = tuple(Call((x, True)) for x in inputs)
    return Probe(step, "several T on one instance", calls, module=_module(draw, sizes), basic=True)


def _changed_on_the_way(step, draw):
    """One instance before and after a step of an optimiser, and in float64 before float32."""
    sizes = Sizes(2, 5, 12, 3)
    module, layers = _module(draw, sizes), draw.layers(sizes.d_model)
    first, last = (Call((draw.normal(2, 5, 12), True)) for _ in range(2))
    last = replace(last, layers=layers)
    yield Probe(step, "new weights on one instance", (first, last), module=module)
    x = draw.normal(2, 14, 12)  # of a T that occurs nowhere else
    calls = (Call((in_float64(x), True)), Call((x, True), layers=layers))
    about = "float64, then float32 on one instance"
    yield Probe(step, about, calls, module=in_float64(module))


def _one_long_sequence(step, draw):
    """Of small numbers: among so many tokens some scores would be so large that float32 rounds
    them off."""
    x = draw.normal(LONG.B, LONG.T, LONG.d_model, scale=0.5)
    return Probe(step, "a long sequence", (Call((x, True)),), module=_module(draw, LONG))


def _permuted(step, draw):
    """Calls: x, and x with its tokens in another order, which the law reads off the arguments."""
    x = draw.normal(2, 6, 12)
    calls = (Call((x,)), Call((x[:, draw.permutation(6)],)))
    module = _module(draw, Sizes(2, 6, 12, 3))
    return Probe(step, "tokens in another order", calls, module=module, law="permutation")


def _same_tokens(step, draw):
    x = draw.normal(2, 1, 12).expand(2, 6, 12).contiguous()
    module = _module(draw, Sizes(2, 6, 12, 3))
    return Probe(step, "the same token everywhere", (Call((x,)),), module=module, law="constant")


def _large_class_scores(step, draw, size):
    """Calls: x, and x with its last token changed, where scores reach `size`; up to LARGE, where
    the numbers have to be right, also x without a mask."""
    sizes = Sizes(2, 6, 8, 2)
    while True:
        x, module = draw.normal(2, 6, 8), _module(draw, sizes)
        x[:, 0] *= 3  # a first token, which sees itself alone, with scores as large as any
        # A last token that is the opposite of the first: where one is low, the other is high.
        changed = torch.cat([x[:, :-1], -x[:, :1]], dim=1)
        scores = [_scores(v, module) for v in (x, changed)]
        factor = size / max(s.abs().max() for s in scores)
        if all(_clear_winners(s * factor) and _has_low_row(s * factor) for s in scores):
            break
    q, *rest = module.layers
    steep = replace(module, layers=(Layer(q.weight * factor, q.bias * factor), *rest))
    calls = (Call((x, True)), Call((changed, True)))
    calls, tolerance = ((*calls, Call((x,))), 5e-3) if size <= LARGE else (calls, None)
    about = f"scores near {size:.0f}"
    return Probe(step, about, calls, module=steep, tolerance=tolerance, law="no leak")


def _scores(x, module):
    layers = tuple(module.layers)
    return stages(Pipeline(x, layers, module.num_heads, False))["attention_scores"][0][1]


def _has_low_row(scores):
    """Whether all that some row may look at is about as low as scores get, where a mask that is
    finite leaks."""
    open_to_row = steps.causal_mask(scores.shape[-1]) == 0
    best = scores.masked_fill(~open_to_row, -math.inf).amax(-1)
    return bool(best.min() < -0.99 * scores.abs().max())


def _clear_winners(scores):
    """Whether in every row, with a causal mask and without, the best key is so far ahead of the
    next that rounding decides nothing."""
    masked = scores + steps.causal_mask(scores.shape[-1])
    ahead = [s.topk(2).values.diff(dim=-1) < -CLEAR for s in (scores, masked[..., 1:, :])]
    return all(bool(rows.all()) for rows in ahead)
