import torch

from attention_lab.check.draw import LARGE, Sizes
from attention_lab.check.figures import heatmaps
from attention_lab.check.step import Step
from attention_lab.check.steps.causal_mask import causal_mask
from attention_lab.observation import Call, Tag


def masked_softmax(scores, mask=None):
    if mask is not None:
        scores = scores + mask
    return torch.softmax(scores, dim=-1)


class MaskedSoftmax(Step):
    right = staticmethod(masked_softmax)
    takes = ("B H T T", "T T")
    axes = ("batch", "head", "query", "key")
    constants = (1,)
    catalogue = "masked_softmax"

    def arguments(self, draw, sizes):
        shape = (sizes.B, sizes.H, sizes.T, sizes.T)
        return draw.normal(*shape, scale=1.5), draw.mask(sizes.T)

    def calls(self, args):
        return Call(args), Call(args[:1])

    def visible(self, draw):
        yield from super().visible(draw)
        sizes = Sizes(2, 5, 12, 3)
        call = Call(self.arguments(draw, sizes)[:1])
        yield self.probe(self.told(sizes), call, basic=True)

    def special(self, draw, sizes):
        T = sizes.T
        for about, numbers in draw.special(sizes.B, sizes.H, T, T).items():
            yield about, (numbers, causal_mask(T))
        for about, mask in draw.masks(T).items():
            yield about, (draw.special(sizes.B, sizes.H, T, T)["many zeros"], mask)

    def extremes(self, draw, sizes):
        B, H, T = sizes.B, sizes.H, sizes.T
        causal = causal_mask(T)
        scores = draw.normal(B, H, T, T, scale=1.5)
        calls = (Call((scores, mask)) for mask in (causal, draw.mask(T), None, causal))
        yield self.probe("a causal mask, another mask and none in turn", *calls)
        options = {"tolerance": 5e-3, "tags": (Tag.LARGE,)}
        large = scores * (LARGE / scores.abs().max())
        calls = (Call((large, mask)) for mask in (None, causal, draw.mask(T)))
        yield self.probe("scores near 10000", *calls, **options)
        calls = (Call((scores - LARGE, causal)), Call((scores + LARGE, causal)))
        yield self.probe("scores that are all near -10000, all near 10000", *calls, **options)

    def told_way(self, call):
        return "" if call.args[1:] else "no mask"

    def is_masked(self, call):
        return len(call.args) > 1 and call.args[1] is not None

    def scores(self, probe, call):
        return probe.calls[call].args[0]

    def picture(self, trial):
        return heatmaps(trial.got[0], sums=True)


STEP = MaskedSoftmax()
