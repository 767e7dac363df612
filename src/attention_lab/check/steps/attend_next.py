import torch
from torch.nn import functional as F

from attention_lab.check.step import Step
from attention_lab.observation import Call


def attend_next(q, k, v, past_k, past_v):
    keys, values = torch.cat([past_k, k], dim=-2), torch.cat([past_v, v], dim=-2)
    return F.scaled_dot_product_attention(q, keys, values), keys, values


class AttendNext(Step):
    right = staticmethod(attend_next)
    takes = (*("B H 1 d_head",) * 3, *("B H t d_head",) * 2)
    returns = ("result", "keys", "values")
    catalogue = "exercises"

    def probes(self, draw, hidden):
        for B, H, t, d in ((2, 3, 5, 4), (3, 2, 1, 5), (2, 4, 0, 3)):
            newest = [draw.normal(B, H, 1, d) for _ in range(3)]
            past = [draw.normal(B, H, t, d) for _ in range(2)]
            call = self.with_gradient(draw, Call((*newest, *past)))
            yield self.probe(f"{t} token{'s'[: t != 1]} before, {H=}", call, basic=True)


STEP = AttendNext()
