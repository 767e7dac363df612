import math

from attention_lab.check.draw import LARGE
from attention_lab.check.figures import figure
from attention_lab.check.numbers import close
from attention_lab.check.step import Step
from attention_lab.observation import Call, Tag


def attention_scores(q, k):
    return q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])


class AttentionScores(Step):
    right = staticmethod(attention_scores)
    takes = ("B H T d_head", "B H T d_head")
    axes = ("batch", "head", "query", "key")
    catalogue = "attention_scores"

    def arguments(self, draw, sizes):
        shape = (sizes.B, sizes.H, sizes.T, sizes.d_head)
        return draw.normal(*shape, scale=1.4), draw.normal(*shape)

    def special(self, draw, sizes):
        shape = (sizes.B, sizes.H, sizes.T, sizes.d_head)
        keys = draw.special(*shape)
        for about, q in draw.special(*shape).items():
            yield about, (q, keys[about])

    def extremes(self, draw, sizes):
        q, k = self.arguments(draw, sizes)
        large = q * (LARGE / attention_scores(q, k).abs().max())
        yield self.probe("scores near 10000", Call((large, k)), tolerance=5e-3, tags=(Tag.LARGE,))
        tiny, tags = q / LARGE, (Tag.VALUES,)
        yield self.probe("scores near 0.0001", Call((tiny, k)), tolerance=1e-9, tags=tags)

    def scores(self, probe, call):
        return attention_scores(*probe.calls[call].args)

    def picture(self, trial):
        """The spread of scores that only lack their scale, and what it would be with it."""
        (scores,), (right,) = trial.got, trial.wanted
        scale = trial.sizes["d_head"] ** 0.5
        if not close(scores, scale * right, 1e-4):
            return []
        stray = float(scores.double().std(correction=0))
        told = f"The standard deviation of your scores is {stray:.2g}."
        return [figure(told, [], f"Divided by sqrt(d_head) it would be {stray / scale:.2g}.")]


STEP = AttentionScores()
