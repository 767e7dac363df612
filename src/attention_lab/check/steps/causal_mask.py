from functools import lru_cache

import torch

from attention_lab.check.draw import CPU, LONG, elsewhere
from attention_lab.check.figures import heatmap
from attention_lab.check.step import Step
from attention_lab.observation import Call, Tag

EFFECT_ROWS = 64


def causal_mask(T, device=None, dtype=None):
    return torch.full((T, T), float("-inf"), device=device, dtype=dtype).triu(1)


class CausalMask(Step):
    right = staticmethod(causal_mask)
    takes = ("T", "", "")
    axes = ("query", "key")
    catalogue = "causal_mask"
    by_hand = "print your mask for T=4. Which cells should be open, and what is in the others?"

    def arguments(self, draw, sizes):
        return sizes.T, CPU, torch.float32

    def visible(self, draw):
        yield from super().visible(draw)
        yield self.probe("T alone given", Call((6,)), basic=True)

    def hidden(self, draw):
        yield from super().hidden(draw)
        call = Call((LONG.T, CPU, torch.float32))
        yield self.probe("a long sequence", call, tags=(Tag.LONG,))

    def kinds(self, draw, sizes):
        T = sizes.T
        calls = (Call((n, CPU, torch.float32)) for n in (T, T + 8, T, 1))
        yield self.probe("several T in turn", *calls, basic=True)
        dtypes = (torch.float32, torch.float64)
        for n, asked in ((T + 1, dtypes), (T + 10, dtypes[::-1])):
            calls = [Call((n, CPU, dtype)) for dtype in asked]
            calls += [Call((n, None, None)), *(Call((1, CPU, dtype)) for dtype in asked)]
            yield self.probe("float32 and float64 in turn", *calls, tags=(Tag.FLOAT64,))
        calls = [Call((n, CPU, torch.float32)) for n in (1, T + 14)]
        about, tags = "a new T on another device than the CPU", (Tag.NEW_LENGTH,)
        yield self.probe(about, *map(elsewhere, calls), tags=tags)
        yield self.probe("the same T on the CPU", *calls)

    def with_gradient(self, draw, call):
        return call

    def dtypes(self, call):
        asked = call.args[2] if len(call.args) > 2 else None
        return (asked,) if asked else (torch.float32, torch.float64)

    def compared(self, output):
        return _effect(output)

    def picture(self, trial):
        title = "what your mask lets through: a row for each query"
        weights = trial.got[0].double().exp()
        return [heatmap(title, weights, "row i should be open up to key i")]


def _effect(mask):
    """What an additive mask does to scores as large as they get: the weights it lets through, in
    some rows where there are very many. (2, rows, T)"""
    rows, scores = _scores_to_mask(len(mask))
    return torch.softmax(scores + mask[rows].to(torch.float64), dim=-1)


@lru_cache(maxsize=32)
def _scores_to_mask(T):
    """Some rows of a (T, T) mask and scores for them, once ordinary, once of up to 10 000."""
    rows = torch.linspace(0, T - 1, min(T, EFFECT_ROWS)).round().long()
    blocked = torch.arange(T) > rows[:, None]
    spread = torch.linspace(-1, 1, T, dtype=torch.float64)
    worst = torch.where(blocked, 1e4, -1e4) + spread
    return rows, torch.stack([(3 * spread).expand_as(worst), worst])


STEP = CausalMask()
