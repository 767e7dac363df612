import inspect

from attention_lab.check.draw import Sizes
from attention_lab.check.step import Step
from attention_lab.check.steps.multi_head_attention import (
    TorchAttention,
    instance,
    module_of,
)
from attention_lab.observation import Call


class HeadOfTorchs(TorchAttention):
    """One head of PyTorch's own attention."""

    def __init__(self, d_model, num_heads):
        super().__init__(d_model, num_heads)
        self.num_heads = num_heads

    def forward(self, x, h):
        _, weights = self.with_weights(x[None])
        values = self.v_proj(x).unflatten(-1, (self.num_heads, -1))
        return weights[0, h] @ values[:, h]


class OneHead(Step):
    name = "one_head"
    right = HeadOfTorchs
    takes = ("T d_model", "")
    of_class = ("d_model", "H")
    axes = ("token", "feature")
    catalogue = "exercises"
    signature = "one_head(x, layer, h)"

    def answer(self, given, layer_class):
        """A learner's function is tried on instances of their own class, as its forward pass."""
        if not (callable(given) and inspect.isclass(layer_class)):
            return given
        return type("Head", (layer_class,), {"forward": lambda layer, x, h: given(x, layer, h)})

    def for_faulty(self, probe, call):
        x, h = probe.calls[call].args
        return x, instance(probe, call), h

    def probes(self, draw, hidden):
        for d_model, H, T in ((12, 3, 5), (10, 2, 7), (6, 1, 4)):
            x, module = draw.normal(T, d_model), module_of(draw, Sizes(1, T, d_model, H))
            for h in range(H):
                about = f"head {h} of {H}, {d_model=}, {T=}"
                yield self.probe(about, Call((x, h)), module=module, basic=True)


STEP = OneHead()
