import torch

from attention_lab.check.step import Step
from attention_lab.check.steps.causal_mask import causal_mask
from attention_lab.observation import Call


def attend(weights, v):
    return weights @ v


class Attend(Step):
    right = staticmethod(attend)
    takes = ("B H T T", "B H T d_head")
    catalogue = "attend"

    def arguments(self, draw, sizes):
        B, H, T = sizes.B, sizes.H, sizes.T
        scores = draw.normal(B, H, T, T, scale=1.5)
        return scores.softmax(-1), draw.normal(B, H, T, sizes.d_head)

    def special(self, draw, sizes):
        B, H, T = sizes.B, sizes.H, sizes.T
        scores = draw.special(B, H, T, T)
        for about, v in draw.special(B, H, T, sizes.d_head).items():
            weights = (scores[about] + causal_mask(T)).softmax(-1)
            yield f"values: {about}, under a causal mask", (weights, v)
        one_each = torch.eye(T)[draw.permutation(T)].expand(B, H, T, T).contiguous()
        yield "all weight on one key", (one_each, draw.normal(B, H, T, sizes.d_head))

    def extremes(self, draw, sizes):
        weights, v = self.arguments(draw, sizes)
        same = v[:, :, :1].expand_as(v).contiguous()
        yield self.probe("the same value at every token", Call((weights, same)), law="constant")

    def scores(self, probe, call):
        return probe.calls[call].args[0].double().log().clamp_min(-50)


STEP = Attend()
