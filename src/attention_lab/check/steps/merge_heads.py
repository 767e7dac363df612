from attention_lab.check.figures import sources
from attention_lab.check.step import Step
from attention_lab.observation import Call, Tag


def merge_heads(x):
    B, H, T, d_head = x.shape
    return x.transpose(1, 2).reshape(B, T, H * d_head)


class MergeHeads(Step):
    right = staticmethod(merge_heads)
    takes = ("B H T d_head",)
    axes = ("batch", "token", "feature")
    catalogue = "merge_heads"

    def arguments(self, draw, sizes):
        return (draw.normal(sizes.B, sizes.H, sizes.T, sizes.d_head),)

    def extremes(self, draw, sizes):
        first, *others = self.arguments(draw, sizes)
        for size in (1e-6, 1e30):
            about, call = f"numbers near {size:.0e}", Call((size * first, *others))
            yield self.probe(about, call, tolerance=1e-12, tags=(Tag.VALUES,))

    def picture(self, trial):
        (result,), x = trial.got, trial.call.args[0]
        note = "row i should hold token i of head 0, then of head 1, and so on"
        return [sources("your rows", result[0], x, {"token": 2, "head": 1}, note)]


STEP = MergeHeads()
