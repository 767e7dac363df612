"""A small notebook with two steps and a class, as jobs for a worker."""

import json
import socket
import threading
from contextlib import closing

from classroom.grading.job import Cell, File, Job, Result
from classroom.grading.sandbox import wire

SETUP = """
import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from attention_lab import check
"""
SOLUTIONS = {
    "split_heads": """
def split_heads(x, num_heads):
    B, T, d_model = x.shape
    return x.reshape(B, T, num_heads, d_model // num_heads).transpose(1, 2)
""",
    "attention_scores": """
def attention_scores(q, k):
    return q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
""",
}
# Right shapes, wrong values.
WRONG = {
    "split_heads": """
def split_heads(x, num_heads):
    B, T, d_model = x.shape
    return x.reshape(B, num_heads, T, d_model // num_heads)
""",
    "attention_scores": """
def attention_scores(q, k):
    return q @ k.transpose(-2, -1)
""",
}


def graded(step: str, aspect: str) -> str:
    return (
        f'check.{step}({step}, aspect="{aspect}")\n'
        f'check.{step}({step}, aspect="{aspect}", hidden=True)'
    )


def notebook(
    answers: dict[str, str], before: str = "", after: str = "", files: tuple[File, ...] = ()
) -> Job:
    """A notebook with `answers`; `before` is a cell above them, `after` one below each of them."""
    sources = [(SETUP, False), (before, False)]
    for step, answer in answers.items():
        sources += [(answer, False), (after, False)]
        sources += [(graded(step, aspect), True) for aspect in ("shape", "value")]
    cells = [Cell(index, *of) for index, of in enumerate(sources) if of[0].strip()]
    return Job(tuple(cells), (SETUP,), files)


def at_the_head(result: Result) -> Result:
    """What a worker's result is when it has been sent to the head, which can write it."""
    head, worker = map(wire.Channel, socket.socketpair())
    with closing(head), closing(worker):
        sender = threading.Thread(target=worker.send, args=(result.to_message(),))
        sender.start()
        message, _ = head.receive()
        sender.join()
    assert json.dumps(message, ensure_ascii=False).encode()
    return Result.from_message(message)


def points(job: Job, result: Result) -> set[str]:
    """The graded cells that earn their points: those without an error."""
    return {
        cell.source.splitlines()[0]
        for cell in job.cells
        if cell.graded and not any(o["output_type"] == "error" for o in shown(result, cell.index))
    }


def shown(result: Result, index: int) -> tuple[dict, ...]:
    return result.ran[index].outputs


def text(result: Result) -> str:
    """Everything that a run shows, as one text."""
    return "\n".join(str(output) for ran in result.ran.values() for output in ran.outputs)


ALL_POINTS = {
    graded(step, aspect).splitlines()[0] for step in SOLUTIONS for aspect in ("shape", "value")
}
