import math

import torch

from attention_lab.check.step import Step
from attention_lab.observation import Call


def padded_softmax(scores, lengths):
    padding = torch.arange(scores.shape[-1]) >= lengths[:, None, None, None]
    return scores.masked_fill(padding, -math.inf).softmax(-1)


class PaddedSoftmax(Step):
    right = staticmethod(padded_softmax)
    takes = ("B H T S", "B")
    axes = ("batch", "head", "query", "key")
    constants = (1,)
    catalogue = "exercises"

    def probes(self, draw, hidden):
        for lengths, H, T, S in (([3, 5], 4, 5, 5), ([1, 7, 4], 2, 3, 7), ([6], 1, 6, 6)):
            scores = draw.normal(len(lengths), H, T, S, scale=1.5)
            call = self.with_gradient(draw, Call((scores, torch.tensor(lengths))))
            yield self.probe(f"lengths {lengths} of {S} keys, {H=}, {T=}", call, basic=True)


STEP = PaddedSoftmax()
