"""A class is tried again with the course's steps in place of wrong ones: nobody may keep those."""

import pytest
from submissions import WRONG, graded, points, text

from classroom.grading.job import Cell, Job
from classroom.grading.worker import Run

SETUP = """
import math

import torch
import torch.nn as nn
from attention_lab import check
"""
CLASS = """
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.d_model, self.num_heads, self.d_head = d_model, num_heads, d_model // num_heads
        for name in ("q_proj", "k_proj", "v_proj", "out_proj"):
            setattr(self, name, nn.Linear(d_model, d_model))

    def forward(self, x, causal=False):
        q, k, v = self.q_proj(x), self.k_proj(x), self.v_proj(x)
        q, k, v = (split_heads(t, self.num_heads) for t in (q, k, v))
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_head)
        if causal:
            scores = scores + torch.full((x.shape[1], x.shape[1]), -math.inf).triu(1).to(x)
        heads = torch.softmax(scores, dim=-1) @ v
        B, H, T, d_head = heads.shape
        return self.out_proj(heads.transpose(1, 2).reshape(B, T, H * d_head))
"""
STEAL = """
import pathlib

class Thief(MultiHeadAttention):
    def forward(self, x, causal=False):
        for frame in list(__import__("sys")._current_frames().values()):
            while frame is not None:
                given = frame.f_locals.get("source")
                if isinstance(given, str) and "def split_heads" in given:
                    pathlib.Path("/tmp/stolen.py").write_text(given)
                frame = frame.f_back
        return super().forward(x, causal)

MultiHeadAttention = Thief

def split_heads(x, num_heads):
    space = {}
    exec(pathlib.Path("/tmp/stolen.py").read_text(), space)
    return space["split_heads"](x, num_heads)
"""
KILL = """
import os

class Killer(MultiHeadAttention):
    def forward(self, x, causal=False):
        if split_heads.__code__.co_filename == "<given steps>":
            os.kill(os.getppid(), 9)
            os._exit(1)
        return super().forward(x, causal)

MultiHeadAttention = Killer
"""
READ = "print(__import__('os').path.exists('/tmp/stolen.py'))"


def job(*cells):
    return Job(tuple(Cell(i, source, g) for i, (source, g) in enumerate(cells)), (SETUP,))


def test_class_is_right_with_given_steps(worker):
    cells = [(SETUP, False), (WRONG["split_heads"], False), (CLASS, False)]
    submission = job(*cells, (graded("MultiHeadAttention", "value"), True))
    result = worker.grade(submission)
    assert len(points(submission, result)) == 1
    assert "with right earlier steps" in text(result)


def test_class_graded_first_cannot_hand_the_given_steps_on(worker):
    cells = [(SETUP, False), (CLASS, False), (STEAL, False)]
    cells += [(graded("MultiHeadAttention", "value"), True), (READ, False)]
    submission = job(*cells, (graded("split_heads", "value"), True))
    result = worker.grade(submission)
    assert not any("split_heads" in point for point in points(submission, result))
    assert "False" in text(result)


def test_nothing_is_run_again_once_right_steps_were_shown(worker, monkeypatch):
    runs = []
    begin = Run.begin
    monkeypatch.setattr(Run, "begin", lambda run: runs.append(run) or begin(run))
    cells = [(SETUP, False), (WRONG["split_heads"], False), (CLASS, False), (KILL, False)]
    graded_cells = [
        (graded("split_heads", "shape"), True),
        (graded("MultiHeadAttention", "value"), True),
    ]
    submission = job(*cells, *graded_cells)
    result = worker.grade(submission)
    assert len(runs) == 1
    assert points(submission, result) == {graded("split_heads", "shape").splitlines()[0]}
    assert any("not all was run" in note for note in result.notes)


@pytest.mark.parametrize("hangs", ["while True: pass", "import os; os._exit(0)"])
def test_right_steps_stand_in_for_one_that_gives_no_answer(grade_briefly, hangs):
    cells = [(SETUP, False), (f"def split_heads(x, h):\n    {hangs}", False), (CLASS, False)]
    submission = job(*cells, *((graded("MultiHeadAttention", a), True) for a in ("shape", "value")))
    result = grade_briefly(submission, cell=5.0)
    assert len(points(submission, result)) == 2
