"""What is right, by PyTorch's own attention."""

import inspect
from dataclasses import fields, is_dataclass, replace
from functools import lru_cache

import torch
from torch import Tensor, nn

from attention_lab.check import steps
from attention_lab.observation import Layer, Observation
from attention_lab.observation.observe import observe

# The steps in the order in which they are taught; also the names of the answers.
STEPS = (
    "project",
    "split_heads",
    "attention_scores",
    "causal_mask",
    "masked_softmax",
    "attend",
    "merge_heads",
    "MultiHeadAttention",
)
STEPS_SOURCE = inspect.getsource(steps)


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
        blocked = torch.ones(T, T, dtype=torch.bool).triu(1) if causal else None
        options = {"attn_mask": blocked, "need_weights": True, "average_attn_weights": False}
        return torch.func.functional_call(self._torch[0], numbers, (x, x, x), options)


def reference(step):
    """Return a right answer to `step`."""
    return TorchAttention if step == "MultiHeadAttention" else getattr(steps, step)


def expect(probe) -> Observation:
    """Return what a right answer shows on `probe`, computed in float64."""
    return observe(reference(probe.step), in_float64(probe))


def in_float64(value):
    """Return plain data with every float32 tensor and dtype made float64; nothing is shared."""
    if isinstance(value, Tensor):
        return value.detach().to(torch.float64, copy=True) if value.is_floating_point() else value
    if value is torch.float32:
        return torch.float64
    if isinstance(value, tuple):
        return tuple(in_float64(item) for item in value)
    if is_dataclass(value):
        changed = {f.name: in_float64(getattr(value, f.name)) for f in fields(value)}
        return replace(value, **changed)
    return value


@lru_cache(maxsize=64)
def whole(pipeline):
    """Return PyTorch's output (B, T, d_model) and weights (B, H, T, T) for a whole pipeline."""
    attention = TorchAttention(pipeline.x.shape[-1], pipeline.num_heads).double()
    layers = (attention.q_proj, attention.k_proj, attention.v_proj, attention.out_proj)
    with torch.no_grad():
        for layer, numbers in zip(layers, pipeline.layers, strict=True):
            layer.weight.copy_(numbers.weight)
            layer.bias.copy_(numbers.bias)
        return attention.with_weights(pipeline.x.double(), pipeline.causal)


def stages(pipeline):
    """Return what goes into and comes out of every step of a right pipeline: step -> list of
    (args, output), one for each time the step is taken; layers stand as `Layer`."""
    taken = {}

    def take(step, *args):
        output = getattr(steps, step)(*(as_function(a) for a in args))
        taken.setdefault(step, []).append((args, output))
        return output

    with torch.no_grad():
        finish(pipeline, take)
    return taken


def finish(pipeline, take):
    """Run a whole pipeline where `take(step, *args)` does each step; return the output
    (B, T, d_model) and the weights (B, H, T, T)."""
    q, k, v = take("project", pipeline.x, *pipeline.layers[:3])
    q, k, v = (take("split_heads", part, pipeline.num_heads) for part in (q, k, v))
    scores = take("attention_scores", q, k)
    T, device, dtype = pipeline.x.shape[1], pipeline.x.device, pipeline.x.dtype
    mask = take("causal_mask", T, device, dtype) if pipeline.causal else None
    weights = take("masked_softmax", scores, mask)
    merged = take("merge_heads", take("attend", weights, v))
    return as_function(pipeline.layers[3])(merged), weights


def as_function(value):
    """Return what a `Layer` does to a tensor; other values as they are."""
    if isinstance(value, Layer):
        return lambda x: nn.functional.linear(x, value.weight, value.bias)
    return value
