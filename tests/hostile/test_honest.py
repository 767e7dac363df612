"""Right answers in unusual company keep every point."""

import pytest
from submissions import ALL_POINTS, SOLUTIONS, at_the_head, notebook, points, text

from classroom.grading.job import File

CONTROLS = {
    "warns": "import warnings\nwarnings.warn('careful')\nimport sys\nsys.stderr.write('!')",
    "prints": "print('hello')",
    "prints-to-both": "import sys\nfor i in range(1001): print(i); print(i, file=sys.stderr)",
    "prints-smileys": "for _ in range(2200): print('\N{GRINNING FACE}' * 1000)",
    "prints-brackets": "print([[0]] * 400_000)",
    "prints-half-a-surrogate-pair": "print('\\ud800')\nraise ValueError('\\ud800')",
    "animation": """
from IPython.display import clear_output, display
shown = display("", display_id=True)
for _ in range(30): shown.update("x" * 100_000)
for _ in range(30): clear_output(wait=True); print("x" * 100_000)
""",
    "displays-a-number": "3.0",
    "sets-a-seed": "torch.manual_seed(0)\nimport random\nrandom.seed(0)",
    "sets-a-default-dtype": "torch.set_default_dtype(torch.float64)",
    "sets-a-default-device": "torch.set_default_device('cpu')",
    "leaves-gradients-off": "torch.set_grad_enabled(False)",
    "timed": "%%time\ntotal = sum(range(1000))",
    "shell-command": "!echo hello",
    "helper": "def helper(x):\n    return x",
    "error-in-a-demonstration": "undefined_name",
    "picture": "import matplotlib.pyplot as plt\nplt.plot([1, 2]);",
    "own-warnings-as-errors": "import warnings\nwarnings.simplefilter('error')",
    "copies-files": """
import pathlib, shutil, tempfile
with tempfile.TemporaryDirectory() as folder, tempfile.NamedTemporaryFile() as file:
    pathlib.Path("kept.txt").write_text("heads")
    shutil.copy2("kept.txt", folder)
    shutil.copytree(folder, "copies", copy_function=shutil.copy)
    pathlib.Path("copies/kept.txt").chmod(0o600)
    torch.save(torch.ones(3), file.name)
    assert torch.load(file.name).sum() == 3
assert pathlib.Path("copies/kept.txt").read_text() == "heads"
""",
    "many-threads": """
from concurrent.futures import ThreadPoolExecutor
torch.set_num_threads(8)
with ThreadPoolExecutor(32) as pool:
    assert sum(pool.map(lambda i: (torch.ones(50, 50) @ torch.ones(50, 50)).sum().item() / 125000,
                        range(64))) == 64
torch.set_num_threads(1)
""",
    "many-processes": """
import multiprocessing
def double(n): return 2 * n
with multiprocessing.get_context("fork").Pool(4) as pool:
    assert pool.map(double, range(8)) == list(range(0, 16, 2))
value = multiprocessing.Value("i", 3)
assert value.value == 3
""",
    "data-loader": """
from torch.utils.data import DataLoader, TensorDataset
batches = DataLoader(TensorDataset(torch.arange(12.)), batch_size=4, num_workers=2)
assert sum(batch.sum().item() for batch, in batches) == 66
""",
    "shared-tensor": "assert torch.ones(1000).share_memory_().sum() == 1000",
    "awaits": "import asyncio\nawait asyncio.sleep(0)",
    "subprocess": """
import subprocess, sys
assert subprocess.run(["sh", "-c", "echo hi | cat"], capture_output=True).stdout == b"hi\\n"
out = !echo one; echo two
assert out == ["one", "two"]
""",
    "mentions-the-library": "F.scaled_dot_product_attention",
}


@pytest.mark.parametrize("code", CONTROLS.values(), ids=CONTROLS)
def test_honest_submission_keeps_every_point(code, worker, note):
    job = notebook(SOLUTIONS, before=code, after=code)
    result = at_the_head(worker.grade(job))
    kept = points(job, result)
    note("hostile", "honest")
    note("hostile", "short" if kept != ALL_POINTS else "whole")
    assert kept == ALL_POINTS


def test_interrupted_demonstration_costs_nothing(grade_briefly):
    job = notebook(SOLUTIONS, before="while True: pass")
    assert points(job, grade_briefly(job, cell=10.0, grace=30.0)) == ALL_POINTS


def test_answer_that_warns_and_prints_each_time(worker):
    noisy = """
import functools, sys, warnings

def noisy(function):
    @functools.wraps(function)
    def call(*args):
        warnings.warn("careful")
        print("hello", file=sys.stderr)
        return function(*args)
    return call

split_heads = noisy(split_heads)
"""
    job = notebook({"split_heads": SOLUTIONS["split_heads"] + noisy})
    assert len(points(job, worker.grade(job))) == 2


def test_supplied_file_lies_in_the_working_folder(worker):
    code = "print(open('data/words.txt').read())"
    job = notebook(SOLUTIONS, before=code, files=(File("data/words.txt", b"heads"),))
    result = worker.grade(job)
    assert "heads" in text(result)
    assert points(job, result) == ALL_POINTS


def test_random_numbers_differ_from_one_submission_to_the_next(worker):
    job = notebook({}, before="import random, numpy\nprint(torch.rand(1), random.random())")
    assert text(worker.grade(job)) != text(worker.grade(job))
