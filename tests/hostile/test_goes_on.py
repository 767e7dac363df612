"""A cell costs one step at most, whatever it does: a right notebook keeps all other points."""

import os
import signal
import threading
import time

import pytest
from submissions import ALL_POINTS, SOLUTIONS, at_the_head, notebook, points, text

from classroom.grading.watchdog import descendants

AGAIN = "was run again without that cell"
# A cell above right answers, and what a human is told.
ENDS = {
    "exits": ("import os; os._exit(0)", AGAIN),
    "restarts as on Colab": ("import os; os.kill(os.getpid(), 9)", AGAIN),
    "crashes": ("import ctypes; ctypes.string_at(0)", AGAIN),
    "aborts": ("import os; os.abort()", AGAIN),
    "takes too much memory": ("x = torch.ones(20000, 20000)\ny = x @ x", AGAIN),
    "starts too many threads": (
        "import threading, time\n"
        "wait = dict(target=time.sleep, args=(9,), daemon=True)\n"
        "for _ in range(1000): threading.Thread(**wait).start()\n"
        "time.sleep(5)",
        AGAIN,
    ),
    "does not stop": (
        "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass",
        AGAIN,
    ),
    "hangs": ("while True: pass", None),
    "talks nonsense": (
        "import socket\nsocket.socket(fileno=3).send(b'nonsense' * 9)\n__import__('time').sleep(9)",
        AGAIN,
    ),
}


@pytest.mark.parametrize(("cell", "note"), ENDS.values(), ids=ENDS)
def test_cell_that_ends_the_process_is_left_out(cell, note, grade_briefly):
    job = notebook(SOLUTIONS, before=cell)
    result = at_the_head(grade_briefly(job, cell=4.0))
    assert points(job, result) == ALL_POINTS
    if note is None:
        assert result.notes == ()
    else:
        assert any(note in said for said in result.notes)
        assert "The notebook was run again with" in text(result)


def test_what_such_a_cell_defines_stays(grade_briefly):
    ends = "import math as m\nroot = 0.5\nimport os\nos._exit(1)\ndef power(x): return x ** root"
    answers = SOLUTIONS | {
        "attention_scores": "def attention_scores(q, k):\n"
        "    return q @ k.transpose(-2, -1) / power(q.shape[-1])\nm"
    }
    job = notebook(answers, before=ends)
    assert points(job, grade_briefly(job)) == ALL_POINTS


def test_answer_that_ends_the_process_costs_its_step_only(grade_briefly):
    ends = "import os\ndef split_heads(x, h):\n    os.kill(os.getppid(), 9)\n    os._exit(1)"
    job = notebook(SOLUTIONS | {"split_heads": ends})
    assert points(job, grade_briefly(job)) == {p for p in ALL_POINTS if "scores" in p}


def test_answer_that_hangs_is_waited_for_once(grade_briefly):
    hangs = "def split_heads(x, h):\n    while True: pass"
    job = notebook(SOLUTIONS | {"split_heads": hangs})
    result = grade_briefly(job, cell=4.0)
    assert points(job, result) == {p for p in ALL_POINTS if "scores" in p}
    assert text(result).count("took longer than 4 seconds") == 4  # a message and a traceback each


def test_submission_has_its_time_and_no_more(grade_briefly):
    job = notebook(SOLUTIONS, before="import time\ntime.sleep(3)", after="time.sleep(3)")
    result = grade_briefly(job, cell=4.0, submission=5.0)
    assert points(job, result) < ALL_POINTS
    assert any("longer than 5 seconds in all" in note for note in result.notes)
    assert "longer than 5 seconds in all" in text(result)


FAILS_HERE = {
    "a package that is missing": ("import nowhere as sns, math as m", "m"),
    "a file that is missing": ("data = open('my.csv').read()\nimport math as m", "m"),
    "a check of one's own": ("assert len('heads') == 4\nm = math", "m"),
    "another device": (
        "torch.set_default_tensor_type('torch.cuda.FloatTensor')\nimport math as m",
        "m",
    ),
    "below a magic": ("%%time\nimport nowhere\nimport math as m", "m"),
    "in a block": ("if True:\n    import nowhere\n    import math as m", "m"),
    "with a choice": ("undefined_name\nif True:\n    m = math\nelse:\n    m = None", "m"),
    "a shell's output": ("files = !ls\nfiles[99]\nimport math as m", "m"),
    "stopped by its time": ("while True: pass\nimport math as m", "m"),
    "everything is here": ("import math as m", None),
    "Colab": (
        "from google.colab import drive, files, userdata\nimport google.colab.output\n"
        "drive.mount('/content/drive')\nfiles.upload()\nkey = userdata.get('KEY') + ''\n"
        "import math as m",
        None,
    ),
    "a question": ("name = input('Who are you? ') + '!'\nimport math as m", None),
    "widgets": ("%matplotlib widget\n%matplotlib qt\nimport math as m", None),
    "extensions": ("%load_ext nb_black\n%tensorflow_version 2.x\nimport math as m", None),
    "a cell's magic": ("%%black\nimport math as m", None),
    "threads": ("torch.set_num_interop_threads(4)\nimport math as m", None),
}
USES_M = SOLUTIONS | {
    "attention_scores": SOLUTIONS["attention_scores"].replace("math.sqrt", "m.sqrt")
}


@pytest.mark.parametrize(("cell", "told"), FAILS_HERE.values(), ids=FAILS_HERE)
def test_cell_that_fails_only_here_does_not_take_its_names_along(cell, told, grade_briefly):
    job = notebook(USES_M, before=cell)
    result = at_the_head(grade_briefly(job, cell=4.0, grace=5.0))
    assert points(job, result) == ALL_POINTS
    if told is None:
        assert result.notes == ()
        assert not any(o["output_type"] == "error" for r in result.ran.values() for o in r.outputs)
    else:
        assert result.notes == (f"a cell failed here; what it defines was run: {told}",)
        assert "Below this error" in text(result)


@pytest.mark.parametrize("above", ["import nowhere\n", "%%time\nimport nowhere\n", "@nowhere\n"])
def test_nor_does_one_that_holds_the_answer(above, grade_briefly):
    job = notebook(SOLUTIONS | {"split_heads": above + SOLUTIONS["split_heads"].lstrip()})
    result = grade_briefly(job)
    assert points(job, result) == ALL_POINTS
    assert result.notes == ("a cell failed here; what it defines was run: split_heads",)


def test_annotation_from_a_package_that_is_missing_costs_nothing(grade_briefly):
    annotated = SOLUTIONS["split_heads"].replace("(x, num", "(x: Float[Tensor, 'b t d'], num")
    job = notebook(SOLUTIONS | {"split_heads": "from jaxtyping import Float\n" + annotated})
    assert points(job, grade_briefly(job)) == ALL_POINTS


def test_what_could_not_be_defined_is_said(grade_briefly):
    job = notebook(USES_M, before="m = open('my.csv').read()")
    result = grade_briefly(job)
    assert points(job, result) < ALL_POINTS
    assert result.notes == ("an earlier cell failed here and would have defined m",)


def test_stub_is_not_an_error_of_the_place(grade_briefly):
    stub = "from attention_lab import NotWrittenYet\nraise NotWrittenYet\nm = math"
    result = grade_briefly(notebook(USES_M, before=stub))
    assert result.notes == ()


def test_error_in_a_demonstration_is_nobodys_business(grade_briefly):
    job = notebook(SOLUTIONS, before="x = torch.ones(2)\nx.view(3)\ny = 3")
    assert grade_briefly(job).notes == ()


COMPILED = {
    "bare": "@torch.compile\n{}",
    "with settings": "@torch.compile(fullgraph=True, mode='max-autotune')\n{}",
    "by name": "{}\n{name} = torch.compile({name})",
    "by the compiler": "{}\nimport torch._dynamo\n{name} = torch._dynamo.optimize()({name})",
}


@pytest.mark.parametrize("how", COMPILED.values(), ids=COMPILED)
def test_compiled_answers_run_as_they_are_written(how, grade_briefly):
    answers = {name: how.format(code.strip(), name=name) for name, code in SOLUTIONS.items()}
    job = notebook(answers)
    result = grade_briefly(job, cell=20.0)
    assert points(job, result) == ALL_POINTS
    assert result.notes == ()


def test_submission_killed_from_outside_is_run_once_more_as_it_is(worker):
    """Somebody outside, such as a kernel that is out of memory, ends the process in its sleep."""
    before = "import time\nprint('it begins', flush=True)\ntime.sleep(4)\nprint('it is through')"
    job = notebook(SOLUTIONS, before=before)
    worker.grade(notebook({}))  # so there is a sandbox
    host = worker.confinement.host.pid

    def kill():
        while len(found := list(descendants(host, at_most=9))) < 2:
            time.sleep(0.1)
        time.sleep(1)
        os.kill(found[-1], signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    result = worker.grade(job)
    killer.join()
    assert points(job, result) == ALL_POINTS
    assert "it is through" in text(result)
    assert result.notes == ("its Python process was killed: the notebook was run once more",)
