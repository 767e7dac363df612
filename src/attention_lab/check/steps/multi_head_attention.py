"""`MultiHeadAttention`, which PyTorch's own says what is right for, and the steps inside it."""

import inspect
import math
from dataclasses import replace
from itertools import permutations
from types import SimpleNamespace

import torch
from torch import nn

from attention_lab.check.draw import (
    ALL_ALIKE,
    DISTINCT,
    EDGES,
    HEADS_COUNTED,
    HUGE,
    LARGE,
    LESSON,
    LONG,
    VISIBLE,
    Sizes,
    as_function,
    elsewhere,
    in_float64,
    sliced,
    transposed,
)
from attention_lab.check.step import Step
from attention_lab.check.steps.attend import attend
from attention_lab.check.steps.attention_scores import attention_scores
from attention_lab.check.steps.causal_mask import causal_mask
from attention_lab.check.steps.masked_softmax import masked_softmax
from attention_lab.check.steps.merge_heads import merge_heads
from attention_lab.check.steps.project import project
from attention_lab.check.steps.split_heads import split_heads
from attention_lab.observation import Call, Layer, Module, Tag

PROJECTIONS = ("q_proj", "k_proj", "v_proj", "out_proj")
PARTS = (project, split_heads, attention_scores, causal_mask, masked_softmax, attend, merge_heads)
SOURCE = "\n\n".join(["import math", "import torch", *map(inspect.getsource, PARTS)])
CLEAR = 14.0  # a score that is lower by this gets a millionth of the weight


class TorchAttention(nn.Module):
    """`nn.MultiheadAttention` behind the lesson's interface."""

    def __init__(self, d_model, num_heads):
        super().__init__()
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.out_proj = nn.Linear(d_model, d_model)
        # In a tuple, so that its parameters are not this module's: the four layers' are used.
        self._torch = (nn.MultiheadAttention(d_model, num_heads, batch_first=True),)

    def forward(self, x, causal=False):
        return self.with_weights(x, causal)[0]

    def with_weights(self, x, causal=False):
        """Return the output (B, T, d_model) and every head's weights (B, H, T, T)."""
        projections = (self.q_proj, self.k_proj, self.v_proj)
        numbers = {
            "in_proj_weight": torch.cat([layer.weight for layer in projections]),
            "in_proj_bias": torch.cat([layer.bias for layer in projections]),
            "out_proj.weight": self.out_proj.weight,
            "out_proj.bias": self.out_proj.bias,
        }
        T = x.shape[1]
        blocked = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1) if causal else None
        options = {"attn_mask": blocked, "need_weights": True, "average_attn_weights": False}
        return torch.func.functional_call(self._torch[0], numbers, (x, x, x), options)


def take(step, *args):
    """Do the step of that name in a whole attention."""
    (part,) = (part for part in PARTS if part.__name__ == step)
    return part(*map(as_function, args))


def whole(x, layers, num_heads, causal, take=take):
    """A whole attention in which `take(step, *args)` does each step: (B, T, d_model)."""
    q, k, v = take("project", x, *layers[:3])
    q, k, v = (take("split_heads", part, num_heads) for part in (q, k, v))
    scores = take("attention_scores", q, k)
    mask = take("causal_mask", x.shape[1], x.device, x.dtype) if causal else None
    weights = take("masked_softmax", scores, mask)
    merged = take("merge_heads", take("attend", weights, v))
    return as_function(layers[3])(merged)


class MultiHeadAttention(Step):
    right = TorchAttention
    name = "MultiHeadAttention"
    takes = ("B T d_model", "")
    of_class = ("d_model", "H")
    axes = ("batch", "token", "feature")
    catalogue = "multi_head_attention"
    substitutes = SOURCE

    def told_way(self, call):
        return f"causal={call.args[1]}" if call.args[1:] else ""

    def is_masked(self, call):
        return call.args[-1] is True

    def by_head(self, probe):
        H = probe.module.args[1]
        return [layer.weight.unflatten(0, (H, -1)) for layer in probe.module.layers[:3]]

    def scores(self, probe, call):
        return _scores(probe.calls[call].args[0], probe.layers_at(call), probe.module.args[1])

    def for_faulty(self, probe, call):
        return instance(probe, call), *probe.calls[call].args

    # --- its trials ---

    def at(self, draw, sizes):
        return self._both(draw, sizes, self.told(sizes), basic=True)

    def visible(self, draw):
        ways = ((), (True,))  # causal left out and given, each once before and once after the other
        for sizes, (first, last) in zip(VISIBLE, permutations(ways), strict=True):
            x = draw.normal(sizes.B, sizes.T, sizes.d_model)
            upstream = (draw.normal(*x.shape),)
            first, last = Call((x, *first), upstream), Call((x, *last), upstream)
            calls = (first, replace(last, upstream=()), Call((x, False)), last)
            yield self.probe(self.told(sizes), *calls, module=module_of(draw, sizes), basic=True)
        for sizes in (ALL_ALIKE, LESSON):
            yield self._both(draw, sizes, self.told(sizes), basic=True)
        for H in HEADS_COUNTED:
            yield self._both(draw, Sizes(2, 5, 24, H), f"{H} heads, calls counted", heads=H)
        yield from self.kinds(draw, Sizes(2, 6, 8, 2))

    def _both(self, draw, sizes, about, **options):
        """A trial with and without a mask."""
        calls = _with_and_without(draw.normal(sizes.B, sizes.T, sizes.d_model))
        return self.probe(about, *calls, module=module_of(draw, sizes), **options)

    def hidden(self, draw):
        for sizes in (*EDGES, *draw.related()):
            yield self._both(draw, sizes, self.told(sizes), basic=True)
        yield from self.kinds(draw, draw.fresh())
        # Small numbers: among so many tokens some scores would be so large that float32 rounds
        # them off.
        x = draw.normal(LONG.B, LONG.T, LONG.d_model, scale=0.5)
        module = module_of(draw, LONG)
        yield self.probe("a long sequence", Call((x, True)), module=module, tags=(Tag.LONG,))

    def kinds(self, draw, sizes):
        shape = (sizes.B, sizes.T, sizes.d_model)
        x, module = draw.normal(*shape), module_of(draw, sizes)
        calls = [replace(call, upstream=(draw.normal(*shape),)) for call in _with_and_without(x)]
        eval_mode = replace(module, training=False)
        yield self.probe("eval mode", *calls, module=eval_mode, heads=0)
        for layout, about in (
            (transposed, "an input whose memory is not in order"),
            (sliced, "an input that is a slice of a larger tensor"),
        ):
            calls = _with_and_without(layout(x))
            yield self.probe(about, *calls, module=module, tags=(Tag.STRIDED,))
        yield from self._in_turn(draw, sizes)
        yield from self._elsewhere(draw, sizes)
        yield from self._special(draw, sizes)
        yield from self._laws(draw, sizes)

    def _in_turn(self, draw, sizes):
        """Several calls on one instance: several T; before and after a step of an optimiser; in
        float64 before float32."""
        B, T, d_model = sizes.B, sizes.T, sizes.d_model
        module, layers, tags = module_of(draw, sizes), draw.layers(d_model), (Tag.IN_TURN,)
        inputs = [draw.normal(b, t, d_model) for b, t in ((B, T), (B + 1, T + 6), (1, 2), (B, T))]
        calls = (Call((x, True)) for x in inputs)
        yield self.probe("several T on one instance", *calls, module=module, basic=True, tags=tags)
        first, last = (Call((draw.normal(B, T, d_model), True)) for _ in range(2))
        last = replace(last, layers=layers)
        yield self.probe("new weights on one instance", first, last, module=module, tags=tags)
        both = _with_and_without(draw.normal(B, T + 8, d_model))  # a T that is in no other trial
        calls = (*in_float64(both), replace(both[1], layers=layers))
        about, tags = "float64, then float32 on one instance", (Tag.IN_TURN, Tag.FLOAT64)
        yield self.probe(about, *calls, module=in_float64(module), tags=tags)

    def _elsewhere(self, draw, sizes):
        module, d_model, T = module_of(draw, sizes), sizes.d_model, sizes.T
        calls = map(elsewhere, _with_and_without(draw.normal(1, T + 9, d_model)))
        about, tags = "a new T on another device than the CPU", (Tag.NEW_LENGTH,)
        yield self.probe(about, *calls, module=module, tags=tags)
        first = Call((draw.normal(1, T + 10, d_model), True))
        calls = (first, replace(elsewhere(first), layers=module.layers))
        yield self.probe("the CPU, then another device than the CPU", *calls, module=module)

    def _special(self, draw, sizes):
        """Numbers that code may ask for, by what they are: without biases for queries and keys, as
        in a new `nn.MultiheadAttention`, a token of zeros has scores of exactly 0."""
        module = module_of(draw, sizes)
        unbiased = [Layer(layer.weight, 0 * layer.bias) for layer in module.layers[:2]]
        unbiased = replace(module, layers=(*unbiased, *module.layers[2:]))
        for about, x in draw.special(sizes.B, sizes.T, sizes.d_model).items():
            calls = _with_and_without(x)
            yield self.probe(about, *calls, module=unbiased, tags=(Tag.VALUES,))

    def _laws(self, draw, sizes):
        yield self._permuted(draw)
        x = draw.normal(2, 1, 12).expand(2, 6, 12).contiguous()
        module = module_of(draw, Sizes(2, 6, 12, 3))
        yield self.probe("the same token everywhere", Call((x,)), module=module, law="constant")
        for size in (LARGE, HUGE):
            yield self._steep(draw, size)
        yield self._low(draw)

    def _permuted(self, draw):
        """Calls: x, and x with its tokens in another order, which the law reads off the
        arguments."""
        x = draw.normal(2, 6, 12)
        calls = (Call((x,)), Call((x[:, draw.permutation(6)],)))
        module = module_of(draw, Sizes(2, 6, 12, 3))
        return self.probe("tokens in another order", *calls, module=module, law="permutation")

    def _steep(self, draw, size):
        """Calls: x, and x with its last token changed, where scores reach `size`; up to LARGE,
        where the numbers have to be right, also x without a mask."""
        sizes = Sizes(2, 6, 8, 2)
        while True:
            x, module = draw.normal(2, 6, 8), module_of(draw, sizes)
            x[:, 0] *= 3  # a first token, which sees itself alone, with scores as large as any
            # A last token that is the opposite of the first: where one is low, the other is high.
            changed = torch.cat([x[:, :-1], -x[:, :1]], dim=1)
            scores = [_scores(v, module.layers, sizes.H) for v in (x, changed)]
            factor = size / max(s.abs().max() for s in scores)
            if all(_clear_winners(s * factor) and _has_low_row(s * factor) for s in scores):
                break
        q, *rest = module.layers
        steep = replace(module, layers=(Layer(q.weight * factor, q.bias * factor), *rest))
        calls = (Call((x, True)), Call((changed, True)))
        calls, tolerance = ((*calls, Call((x,))), 5e-3) if size <= LARGE else (calls, None)
        options = {"module": steep, "tolerance": tolerance, "law": "no leak", "tags": (Tag.LARGE,)}
        return self.probe(f"scores near {size:.0f}", *calls, **options)

    def _low(self, draw):
        """All scores are far below 0."""
        sizes, shift = Sizes(2, 4, 8, 2), (LARGE / 2) ** 0.5
        while True:
            x, module = draw.normal(2, 4, 8, scale=4), module_of(draw, sizes)
            q, k, *rest = module.layers
            layers = (Layer(q.weight, q.bias - shift), Layer(k.weight, k.bias + shift), *rest)
            scores = _scores(x, layers, sizes.H)
            if scores.max() < -LARGE / 4 and _clear_winners(scores):
                break
        options = {"module": replace(module, layers=layers), "tolerance": 5e-3}
        about, tags = "scores that are all near -10000", (Tag.LARGE,)
        return self.probe(about, *_with_and_without(x), **options, tags=tags)

    # --- other steps inside it ---

    def around(self, step, draw):
        for causal in (False, True):
            x = draw.normal(DISTINCT.B, DISTINCT.T, DISTINCT.d_model)
            inside = self.probe("", Call((x, causal)), module=module_of(draw, DISTINCT))
            calls = _calls_inside(inside, step.name)
            if calls:
                about = f"a whole {'causal ' if causal else ''}attention around it"
                yield step.probe(about, *calls, law="whole", around=inside)

    def with_outputs(self, probe, step, outputs):
        """What a right attention gives if `outputs`, one for each time it is taken, came from
        `step`."""
        waiting = iter(outputs)
        return _run(probe, lambda name, *args: next(waiting) if name == step else take(name, *args))


def instance(probe, call):
    """What stands for the instance of a class that a call is made on."""
    d_model, num_heads = probe.module.args
    layers = map(as_function, probe.layers_at(call))
    return SimpleNamespace(
        d_model=d_model,
        num_heads=num_heads,
        d_head=d_model // num_heads,
        training=probe.module.training,
        **dict(zip(PROJECTIONS, layers, strict=True)),
    )


def module_of(draw, sizes, training=True):
    return Module((sizes.d_model, sizes.H), PROJECTIONS, draw.layers(sizes.d_model), training)


def _with_and_without(x):
    return Call((x,)), Call((x, True))


def _calls_inside(probe, step):
    """The calls of a step in a right attention."""
    calls = []

    def note(name, *args):
        if name == step:
            calls.append(Call(args))
        return take(name, *args)

    _run(probe, note)
    return calls


@torch.no_grad()
def _run(probe, take):
    x, causal = probe.calls[0].args
    return whole(x, probe.module.layers, probe.module.args[1], causal, take)


def _scores(x, layers, num_heads):
    q, k, _ = take("project", x, *layers[:3])
    return attention_scores(split_heads(q, num_heads), split_heads(k, num_heads))


def _has_low_row(scores):
    """Whether all that some row may look at is about as low as scores get, where a mask that is
    finite leaks."""
    open_to_row = causal_mask(scores.shape[-1]) == 0
    best = scores.masked_fill(~open_to_row, -math.inf).amax(-1)
    return bool(best.min() < -0.99 * scores.abs().max())


def _clear_winners(scores):
    """Whether in every row, with a causal mask and without, the best key is so far ahead of the
    next that rounding decides nothing."""
    masked = scores + causal_mask(scores.shape[-1])
    ahead = [s.topk(2).values.diff(dim=-1) < -CLEAR for s in (scores, masked[..., 1:, :])]
    return all(bool(rows.all()) for rows in ahead)


STEP = MultiHeadAttention()
