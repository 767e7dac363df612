from torch.nn import functional as F

from attention_lab.check.step import Step
from attention_lab.observation import Call


def grouped_attention(q, k, v):
    return F.scaled_dot_product_attention(q, k, v, enable_gqa=True)


class GroupedAttention(Step):
    right = staticmethod(grouped_attention)
    takes = ("B H T d_head", "B G T d_head", "B G T d_head")
    catalogue = "exercises"

    def probes(self, draw, hidden):
        for H, G, T, d in ((6, 2, 5, 3), (8, 4, 3, 5), (4, 1, 6, 2), (3, 3, 4, 5)):
            call = Call((draw.normal(2, H, T, d), draw.normal(2, G, T, d), draw.normal(2, G, T, d)))
            about = f"{H=} in {G} group{'s'[: G > 1]}, {T=}"
            yield self.probe(about, self.with_gradient(draw, call), basic=True)


STEP = GroupedAttention()
