from torch.nn import functional as F

from attention_lab.check.step import Step
from attention_lab.observation import Call


def cross_attention(x, memory, q_proj, k_proj, v_proj, out_proj, num_heads):
    split = [
        layer(source).unflatten(-1, (num_heads, -1)).transpose(1, 2)
        for layer, source in ((q_proj, x), (k_proj, memory), (v_proj, memory))
    ]
    return out_proj(F.scaled_dot_product_attention(*split).transpose(1, 2).flatten(2))


class CrossAttention(Step):
    right = staticmethod(cross_attention)
    takes = ("B T d_model", "B S d_model", "", "", "", "", "H")
    axes = ("batch", "token", "feature")
    catalogue = "exercises"

    def probes(self, draw, hidden):
        for B, T, S, d_model, H in ((2, 3, 7, 20, 4), (3, 6, 2, 15, 5), (1, 1, 4, 6, 1)):
            sources = draw.normal(B, T, d_model), draw.normal(B, S, d_model)
            call = Call((*sources, *draw.layers(d_model), H))
            about = f"{B=}, {T=}, {S=}, {d_model=}, {H=}"
            yield self.probe(about, self.with_gradient(draw, call), basic=True)


STEP = CrossAttention()
