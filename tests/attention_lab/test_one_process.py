"""The package would run in a browser: it starts no thread and no process."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "src" / "attention_lab"
FORBIDDEN = {"threading", "_thread", "multiprocessing", "concurrent", "subprocess", "socket"}
ALONE = """
import os, subprocess, threading

def refuse(*args, **kwargs):
    raise RuntimeError("a browser has no threads and no processes")

threading.Thread.start = subprocess.Popen.__init__ = os.fork = os.system = refuse
import torch
torch.set_num_threads(1)
from attention_lab import check, example, explore, follow, play, progress, quiz, show_heads
from attention_lab.check import steps

for step in check.STEPS[:-1]:
    getattr(check, step)(getattr(steps, step), hidden=True)
try:
    check.split_heads(lambda x, H: x.view(x.shape[0], H, x.shape[1], -1))
except check.Mistake as mistake:
    print(mistake)
names = {step: getattr(steps, step) for step in check.STEPS[:-1]}
for shown in (
    show_heads(torch.eye(3)[None]),
    explore(lambda words, t=1.0: torch.eye(len(words))[None] * 1.0, ["a", "b"], t=[1.0, 2.0]),
    follow(names, "the cat likes"),
    quiz.recall(),
    progress.summary(),
):
    print(shown)
"""


def imported(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield (node.module or "").split(".")[0]


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda p: p.stem)
def test_no_module_imports_what_a_browser_lacks(path):
    assert not FORBIDDEN & {*imported(path)}


def test_checks_and_pictures_need_one_thread_and_one_process():
    done = subprocess.run([sys.executable, "-c", ALONE], capture_output=True, text=True)
    assert done.stderr == ""
    assert done.stdout.count("✓") == 7
