"""What is mutated: the lesson's own solutions, the reference steps, and a class in one piece."""

import ast
import inspect
import re
from dataclasses import dataclass, field
from pathlib import Path

from attention_lab.check import STEPS, steps

LESSON = Path(__file__).parents[2] / "lessons" / "multi_head_attention.py"
CELL = re.compile(r'^# %% grade_id="(\w+)" solution=true\n(.*?)(?=^# %%)', re.MULTILINE | re.DOTALL)
REGION = re.compile(r"### BEGIN SOLUTION.*### END SOLUTION", re.DOTALL)
GIVEN = {step: getattr(steps, step) for step in STEPS if hasattr(steps, step)}

IN_ONE_PIECE = """
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.d_model = d_model
        self.num_heads = num_heads
        self.d_head = d_model // num_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.out_proj = nn.Linear(d_model, d_model)

    def forward(self, x, causal=False):
        B, T, _ = x.shape
        q = self.q_proj(x).view(B, T, self.num_heads, self.d_head).transpose(1, 2)
        k = self.k_proj(x).view(B, T, self.num_heads, self.d_head).transpose(1, 2)
        v = self.v_proj(x).view(B, T, self.num_heads, self.d_head).transpose(1, 2)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_head)
        if causal:
            blocked = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1)
            scores = scores.masked_fill(blocked, -math.inf)
        out = torch.softmax(scores, dim=-1) @ v
        return self.out_proj(out.transpose(1, 2).reshape(B, T, self.d_model))
"""


@dataclass(frozen=True)
class Solution:
    """source: a right answer to `step`, of which lines first to last are mutated.
    given: what it finds in the notebook."""

    origin: str
    step: str
    source: str
    first: int
    last: int
    given: dict = field(default_factory=dict)


def solutions() -> list[Solution]:
    return [*_of_the_lesson(), *_references(), _in_one_piece()]


def _of_the_lesson():
    for step, cell in CELL.findall(LESSON.read_text(encoding="utf-8")):
        if step not in STEPS:
            continue
        region = REGION.search(cell)
        first, last = (cell.count("\n", 0, at) + 1 for at in region.span())
        given = GIVEN if step == "MultiHeadAttention" else {}
        yield Solution("lesson", step, cell, first, last, given)


def _references():
    for step, function in GIVEN.items():
        source = inspect.getsource(function)
        yield Solution("reference", step, source, 1, source.count("\n"))


def _in_one_piece():
    init, forward = ast.parse(IN_ONE_PIECE).body[0].body
    return Solution(
        "one piece", "MultiHeadAttention", IN_ONE_PIECE, init.lineno + 4, forward.end_lineno
    )
