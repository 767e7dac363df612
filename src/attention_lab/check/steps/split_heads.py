from attention_lab.check.figures import sources
from attention_lab.check.step import Step
from attention_lab.observation import Call, Tag


def split_heads(x, num_heads):
    B, T, d_model = x.shape
    return x.reshape(B, T, num_heads, d_model // num_heads).transpose(1, 2)


class SplitHeads(Step):
    right = staticmethod(split_heads)
    takes = ("B T d_model", "H")
    catalogue = "split_heads"

    def arguments(self, draw, sizes):
        return draw.normal(sizes.B, sizes.T, sizes.d_model), sizes.H

    def by_head(self, probe):
        return [split_heads(*probe.calls[0].args).transpose(0, 1)]

    def extremes(self, draw, sizes):
        first, *others = self.arguments(draw, sizes)
        for size in (1e-6, 1e30):
            about, call = f"numbers near {size:.0e}", Call((size * first, *others))
            yield self.probe(about, call, tolerance=1e-12, tags=(Tag.VALUES,))

    def picture(self, trial):
        (result,), x = trial.got, trial.call.args[0]
        note = "row i should hold token i only, with neighbouring features"
        return [sources("your head 0", result[0, 0], x, {"token": 1, "feature": 2}, note)]


STEP = SplitHeads()
