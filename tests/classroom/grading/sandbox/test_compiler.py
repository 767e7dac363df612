"""In a process of its own, whose torch has compiled nothing yet."""

import subprocess
import sys

PROGRAM = """
import sys
import torch
from classroom.grading.sandbox import compiler

def is_there():
    return "torch._dynamo.eval_frame" in sys.modules

compiler.put_off()
compiler.put_off()
weight = torch.nn.Parameter(torch.ones(2, 2))
optimizer = torch.optim.Adam([weight])
torch.sigmoid(torch.ones(2, device="meta"))
torch.sigmoid(weight).sum().backward()
optimizer.step()
print(is_there())
print(torch.compile(torch.add, backend="eager")(weight, weight).shape)
print(is_there(), torch._dynamo is sys.modules[compiler.NAME])
"""


def test_compiler_is_imported_for_whoever_compiles():
    said = subprocess.check_output([sys.executable, "-c", PROGRAM], text=True)
    assert said.splitlines() == ["False", "torch.Size([2, 2])", "True True"]
