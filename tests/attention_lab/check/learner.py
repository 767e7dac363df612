"""Answers as a learner types them, and what the checks say about them."""

import linecache
from functools import cache
from itertools import count

import pytest

from attention_lab import check
from attention_lab.check.evidence import Evidence
from attention_lab.check.judge import judge
from attention_lab.check.probes import probes
from attention_lab.check.references import expect
from attention_lab.observation.observe import observe

CELLS = count()
CLASS = """
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.d_model, self.num_heads, self.d_head = d_model, num_heads, d_model // num_heads
        self.q_proj, self.k_proj = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.v_proj, self.out_proj = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)

    def heads(self, x):
        return x.view(*x.shape[:2], self.num_heads, self.d_head).transpose(1, 2)

    def forward(self, x, causal=False):
        B, T, D = x.shape
        q, k, v = self.q_proj(x), self.k_proj(x), self.v_proj(x)
{body}
"""
# What follows in a right class's forward.
LINES = {
    "heads": "q, k, v = map(self.heads, (q, k, v))",
    "scores": "s = q @ k.mT / self.d_head**0.5",
    "mask": "s = s.masked_fill(torch.ones_like(s).triu(1).bool() & causal, -math.inf)",
    "mix": "m = s.softmax(-1) @ v",
    "merge": "m = m.transpose(1, 2).flatten(2)",
    "out": "return self.out_proj(m)",
}


def of_class(**changed):
    """The body of a class, right but for the lines that are `changed`."""
    return "\n".join((LINES | changed).values())


def typed(step, source):
    """The answer whose body is `source`: a function's, or what follows in a class's forward."""
    signature = {
        "project": "x, q_proj, k_proj, v_proj",
        "split_heads": "x, num_heads",
        "attention_scores": "q, k",
        "causal_mask": "T, device=None, dtype=None",
        "masked_softmax": "scores, mask=None",
        "attend": "weights, v",
        "merge_heads": "x",
    }
    lines = source.strip().splitlines()
    if step == "MultiHeadAttention":
        text = CLASS.format(body="\n".join(f"        {line}" for line in lines))
    else:
        text = f"def {step}({signature[step]}):\n" + "\n".join(f"    {line}" for line in lines)
    space = {}
    exec("import math, torch\nfrom torch import nn\nfrom torch.nn import functional as F", space)
    run_cell(text, space)
    return space[step]


def run_cell(text, space):
    """Run a cell whose lines can be quoted, as a notebook's can."""
    name = f"<cell {next(CELLS)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    exec(compile(text, name, "exec"), space)


def mistake(step, source, **options):
    """The Mistake that the answer of this body gets."""
    with pytest.raises(check.Mistake) as caught:
        getattr(check, step)(typed(step, source), **options)
    return caught.value


@cache
def trials(step, hidden=False):
    made = probes(step, 0, hidden)
    return made, tuple(map(expect, made))


def evidence(step, source, hidden=False):
    """All that is known of the answer of this body."""
    made, expected = trials(step, hidden)
    answer = typed(step, source)

    def ask(probes, mend=""):
        return tuple(observe(answer, probe, mend=mend) for probe in probes)

    seen = ask(made)
    return Evidence(step, made, seen, expected, judge(made, seen, expected), ask)
