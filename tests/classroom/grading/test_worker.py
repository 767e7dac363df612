"""Single notebooks through a worker: what the hostile suite does not ask."""

import os
import signal
from types import SimpleNamespace

import pytest
import torch

from attention_lab import check
from classroom.grading.confinement import Broken, Confinement
from classroom.grading.job import Cell, Job
from classroom.grading.judge import CourseError, Judge
from classroom.grading.limits import Limits
from classroom.grading.sandbox.shell import Shell
from classroom.grading.worker import Worker


@pytest.fixture(scope="module")
def worker():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    limits = Limits(memory=1 << 30, output=1 << 20)
    cores = {min(os.sched_getaffinity(0))}
    worker = Worker("bubblewrap", limits, Judge(1, limits.output), cores=cores)
    yield worker
    worker.close()
    Shell.clear_instance()
    check.use_seed(None)
    torch.set_num_threads(threads)


def ran(worker, *cells, setup=()):
    """Cells that have been run; those that begin with "graded" judge."""
    job = Job(
        tuple(
            Cell(i, source.removeprefix("graded "), source.startswith("graded "))
            for i, source in enumerate(cells)
        ),
        setup,
    )
    result = worker.grade(job).ran
    return [result[i] for i in range(len(cells))]


def run(worker, *cells, setup=()):
    """The outputs of cells."""
    return [cell.outputs for cell in ran(worker, *cells, setup=setup)]


def test_outputs_are_those_of_a_notebook(worker):
    shown, silent, value = run(
        worker,
        "from IPython.display import display\nprint('a')\ndisplay(1)\n2",
        "x = 3;",
        "%time x",
    )
    assert [output["output_type"] for output in shown] == [
        "stream",
        "display_data",
        "execute_result",
    ]
    assert silent == ()
    assert value[-1]["data"] == {"text/plain": "3"}


def test_traceback_is_short_and_names_the_cells(worker):
    *_, (error,) = run(worker, "def f():\n    return 1 / 0", "f()")
    assert error["ename"] == "ZeroDivisionError"
    assert error["traceback"] == [
        "In [2], line 1: f()",
        "In [1], line 2: return 1 / 0",
        "ZeroDivisionError: division by zero",
    ]


def test_syntax_errors_and_unknown_magics_are_shown(worker):
    (syntax,), (said,) = run(worker, "x = (", "%nonsense")
    assert syntax["ename"] == "SyntaxError"
    assert "%nonsense is not here" in said["text"]


def test_stub_says_one_friendly_line(worker):
    (error,) = run(worker, "from attention_lab import NotWrittenYet\nraise NotWrittenYet")[0]
    assert len(error["traceback"]) == 1
    assert "not written yet" in error["traceback"][0]


def test_picture_of_matplotlib_is_shown(worker):
    (picture,) = run(worker, "import matplotlib.pyplot as plt\nplt.plot([1, 2]);")[0]
    assert "image/png" in picture["data"]


def test_checks_inside_say_that_they_do_nothing(worker):
    ((said,),) = run(worker, "from attention_lab import check\ncheck.project(lambda: None)")
    assert "while grading" in said["text"]


def test_flood_is_cut_without_costing_the_sandbox(worker):
    run(worker, "1")
    before = worker.confinement
    ((text,),) = run(worker, "for _ in range(20): print('x' * 100_000)")
    assert len(text["text"]) < 1_100_000
    assert worker.confinement is before


def test_graded_cell_uses_functions_and_copies_of_data(worker):
    *_, right, wrong = run(
        worker,
        "import torch\ndef f(x):\n    return x + n\nn, words = 2, ['a', 'b']",
        "graded assert f(torch.ones(1)).item() == 3 and n == 2 and words == ['a', 'b']",
        "graded assert n == 3, 'n should be 3'",
        setup=("import torch",),
    )
    assert right == ()
    assert wrong[0]["evalue"] == "n should be 3"


def test_recognised_misconception_is_kept_with_the_cell(worker):
    written, *graded = ran(
        worker,
        "def merge_heads(x):\n    return x.flatten(2)",
        "graded check.merge_heads(merge_heads, hidden=True)",
        "graded assert False",
        "graded 1",
        setup=("from attention_lab import check",),
    )
    assert written.misconception is None
    assert [cell.misconception for cell in graded] == ["merge-without-transpose", None, None]


def test_an_error_inside_a_step_is_told_with_the_line_that_called_it(worker):
    *_, graded = run(
        worker,
        "import torch\nfrom torch import nn",
        "class MultiHeadAttention(nn.Module):\n"
        "    def __init__(self, d_model, num_heads):\n"
        "        super().__init__()\n"
        "        for name in ('q_proj', 'k_proj', 'v_proj', 'out_proj'):\n"
        "            setattr(self, name, nn.Linear(d_model, d_model))\n"
        "    def forward(self, x, causal=False):\n"
        "        return merge_heads(x)",
        "graded check.MultiHeadAttention(MultiHeadAttention, hidden=True)",
        setup=("from attention_lab import check",),
    )
    (error,) = (output for output in graded if output["output_type"] == "error")
    assert "ValueError in `merge_heads`, called in `return merge_heads(x)`" in _one_line(error)


def _one_line(error):
    return " ".join(" ".join(error["traceback"]).split())


def test_graded_cell_cannot_use_other_objects(worker):
    (error,) = run(worker, "g = (i for i in [])", "graded list(g)")[1]
    assert "g is a generator" in error["evalue"]


def test_name_that_is_missing_is_an_error_of_the_cell(worker):
    (error,) = run(worker, "pass", "graded f(1)")[1]
    assert error["ename"] == "NameError"


def test_set_up_names_are_not_the_learners(worker):
    (passed,) = run(worker, "n = 5", "graded assert n == 1", setup=("n = 1",))[1:]
    assert passed == ()


def test_one_graded_cell_does_not_influence_the_next(worker):
    cells = ["count = [0]\ndef f():\n    count[0] += 1\n    return count[0]"]
    cells += ["graded assert f() == 1"] * 2
    assert run(worker, *cells)[1:] == [(), ()]


def test_graded_cells_are_numbered_as_they_stand(worker):
    graded = ["graded check.merge_heads(f, aspect='shape', hidden=True)", "graded assert True"]
    setup = ("from attention_lab import check",)
    cells = ran(worker, "def f(x):\n    return x.transpose(1, 2).flatten(2)", *graded, setup=setup)
    assert [cell.count for cell in cells[1:]] == [1, 2]


def test_graded_cell_may_use_what_the_one_above_it_defines(worker):
    *_, passed = run(worker, "pass", "graded limit = 3", "graded assert limit == 3")
    assert passed == ()


def test_what_was_right_is_asked_for_again_once_it_may_have_changed(worker):
    right = "def f(x):\n    return x.transpose(1, 2).flatten(2)"
    graded = [f"graded check.merge_heads(f, aspect='{a}', hidden=True)" for a in ("shape", "value")]
    setup = ("from attention_lab import check",)
    *_, shape, value = run(worker, right, *graded, "f = None", *graded, setup=setup)
    assert shape[0]["output_type"] == value[0]["output_type"] == "error"


def test_graded_cell_that_ends_the_process_costs_no_other(worker):
    ends = "import os\ndef f(x):\n    if x.requires_grad:\n        os.kill(os.getppid(), 9)\n"
    graded = [f"graded check.merge_heads(f, aspect='{a}', hidden=True)" for a in ("shape", "value")]
    right = "    return x.transpose(1, 2).flatten(2)"
    setup = ("from attention_lab import check",)
    _, shape, value, after = run(worker, ends + right, *graded, "1", setup=setup)
    assert [output["output_type"] for output in shape] == ["stream"]
    assert "process was killed" in value[0]["evalue"]
    assert after[0]["data"] == {"text/plain": "1"}


def test_nothing_is_left_in_the_judge(worker):
    run(worker, "pass", "graded leftover = 1")
    (error,) = run(worker, "pass", "graded leftover")[1]
    assert error["ename"] == "NameError"


def test_failing_set_up_is_the_courses_error(worker):
    with pytest.raises(CourseError, match="division by zero"):
        run(worker, "pass", setup=("1 / 0",))


DRAW = """
from attention_lab import show_heads
from attention_lab.heatmap import drawn

answer = {answer}
before = len(drawn.kept())
display(show_heads(answer * torch.ones(1, 2, 2), ["a", "b"]))
print(len(drawn.kept()) > before)
"""


def test_pictures_of_the_solution_are_drawn_once_for_all(worker):
    worker.close()  # only a fresh sandbox is shown the solution
    for own, drawn_anew in [(0.5, False), (0.7, True)]:
        cells = (Cell(0, "import torch\n'answer' in globals()", False),)
        cells += (Cell(1, DRAW.format(answer=own), False),)
        result = worker.grade(Job(cells, solved=("import torch", DRAW.format(answer=0.5)))).ran
        assert result[0].outputs[0]["data"]["text/plain"] == "False"
        assert result[1].outputs[-1]["text"] == f"{drawn_anew}\n"


def test_solution_that_fails_costs_pictures_only(worker):
    worker.close()
    job = Job((Cell(0, "1", False),), solved=("import os; os._exit(1)",))
    assert worker.grade(job).ran[0].outputs[0]["data"]["text/plain"] == "1"


READ_AHEAD = """
from attention_lab.observation import observe

observe.decoded.cache_info().currsize
"""


def test_questions_are_read_before_a_submission_starts(worker):
    graded = "graded check.merge_heads(f, hidden=True)"
    setup = ("from attention_lab import check",)
    ((value,),) = run(worker, READ_AHEAD, graded, setup=setup)[:1]
    known = len(set(worker.judge.questions)) + len(("that of the warm-up",))
    assert int(value["data"]["text/plain"]) == known > 1


def test_released_cells_are_compiled_before_a_submission_starts(worker):
    seen = []
    for released in ((), ("x = 1", "x = (", "y = 1\nz = 1")):
        worker.close()
        job = Job((Cell(0, "len(get_ipython().compile._compiled)", False),), released=released)
        seen.append(int(worker.grade(job).ran[0].outputs[0]["data"]["text/plain"]))
    assert seen[1] == seen[0] + 3


LOOK_FOR = """
import gc

gc.unfreeze()
word = "".join(reversed("hgulp_yzzyx"))
any(
    word in part
    for whole in gc.get_objects()
    for part in gc.get_referents(whole)
    if type(part) is str and part is not word
)
"""


@pytest.mark.parametrize(
    ("ahead", "found"),
    [({"solved": ("xyzzy_plugh = 1",)}, False), ({"released": ("xyzzy_plugh",)}, True)],
)
def test_submission_finds_what_is_released_and_nothing_of_the_solution(worker, ahead, found):
    worker.close()
    ran = worker.grade(Job((Cell(0, LOOK_FOR, False),), **ahead)).ran
    assert ran[0].outputs[0]["data"]["text/plain"] == str(found)


@pytest.mark.parametrize("of", ["start_submission", "end_submission"])
def test_sandbox_that_dies_with_the_solution_is_replaced(worker, monkeypatch, of):
    alive = getattr(Confinement, of)

    def die_once(confinement):
        monkeypatch.setattr(Confinement, of, alive)
        os.kill(confinement.host.pid, signal.SIGKILL)
        return alive(confinement)

    worker.close()
    monkeypatch.setattr(Confinement, of, die_once)
    job = Job((Cell(0, "1", False),), solved=("2",))
    assert worker.grade(job).ran[0].outputs[0]["data"]["text/plain"] == "1"


SPREAD = """
import os
try:
    os.sched_setaffinity(0, range(os.cpu_count()))
except PermissionError:
    print("refused")
os.sched_getaffinity(0)
"""


def test_submission_keeps_to_the_cores_of_its_worker(worker):
    ((said, cores),) = run(worker, SPREAD)
    assert said["text"] == "refused\n"
    assert cores["data"]["text/plain"] == str(worker.cores)


def test_sandbox_that_did_not_answer_is_asked_nothing_more(monkeypatch):
    seen = []

    class Silent:
        knows = ()

        def __init__(self, *_):
            seen.append("start")

        def wait_until_ready(self):
            seen.append("ready")

        def learn(self, *_):
            raise Broken("it did not answer")

        def close(self):
            seen.append("close")

    monkeypatch.setattr("classroom.grading.worker.Confinement", Silent)
    judge = SimpleNamespace(prepare=id, begin=id, in_order=list, questions=())
    with pytest.raises(Broken):
        Worker("bubblewrap", Limits(), judge).grade(Job(()))
    assert seen == ["start", "ready", "close"] * 2


@pytest.mark.parametrize(
    ("overstepped", "changed"),
    [(None, ("process (it no longer answered)",)), ("it used more than 2048 MiB", ())],
)
def test_submission_whose_sandbox_does_not_come_to_an_end_is_looked_at(overstepped, changed):
    class Stuck:
        def end_submission(self):
            raise Broken("it did not answer")

        def close(self):
            pass

    Stuck.overstepped = overstepped
    worker = Worker("bubblewrap", Limits(), judge=None, confinement=Stuck())
    assert worker._end() == changed
    assert worker.confinement is None


def test_sandbox_is_replaced_after_fifty_submissions(worker, monkeypatch):
    monkeypatch.setattr("classroom.grading.confinement.MAX_SUBMISSIONS", 1)
    run(worker, "pass")
    assert worker.confinement is None


SOFTMAX = """
# my softmax
def masked_softmax(scores, mask=None):
    if mask is not None:
        scores = scores + mask
    return scores.softmax(dim=-2)
"""
GRADED_SOFTMAX = "graded check.masked_softmax(masked_softmax, hidden=True)"
WHERE = "line 6: `return scores.softmax(dim=-2)`"


def error_of(cell):
    return next(output for output in cell if output["output_type"] == "error")


@pytest.mark.parametrize(
    ("cells", "is_said"),
    [
        ((SOFTMAX, GRADED_SOFTMAX), True),
        ((SOFTMAX, GRADED_SOFTMAX, "print('and on')"), True),
        ((SOFTMAX, GRADED_SOFTMAX, SOFTMAX.replace("-2", "-1")), False),  # another by then
        ((SOFTMAX + "masked_softmax = print", GRADED_SOFTMAX), False),
    ],
)
def test_a_mistake_says_on_which_line_it_is(worker, cells, is_said):
    setup = ("from attention_lab import check",)
    shown = run(worker, "import torch", *cells, setup=setup)
    error = error_of(shown[2])
    assert (WHERE in error["evalue"]) is is_said
    assert (WHERE in "".join(error["traceback"])) is is_said


def test_what_is_found_of_one_submission_is_not_told_to_the_next(worker):
    setup = ("from attention_lab import check",)
    for lines in (0, 3):
        _, _, graded = run(
            worker, "import torch", "\n" * lines + SOFTMAX, GRADED_SOFTMAX, setup=setup
        )
        assert f"line {6 + lines}:" in error_of(graded)["evalue"]


def test_no_cell_sees_the_texts_that_are_tried(worker):
    """Nothing may be judged once a fork has been shown a text that may be right."""
    noting = "    if sys._getframe().f_code.co_filename != here: open('seen', 'w')\n"
    spy = SOFTMAX.replace(
        "# my softmax", "import os, sys; here = sys._getframe().f_code.co_filename"
    )
    spy = spy.replace("    if mask", f"{noting}    if mask")
    reader = "def attend(weights, v):\n    return weights @ v if os.path.exists('seen') else v"
    setup = ("from attention_lab import check",)
    graded = "graded check.attend(attend, hidden=True)"
    shown = run(worker, "import torch", spy, GRADED_SOFTMAX, reader, graded, setup=setup)
    assert "line 7:" in error_of(shown[2])["evalue"]  # texts were tried
    assert error_of(shown[4])


def test_an_edit_that_ends_the_process_costs_nothing_but_the_line(worker):
    code = SOFTMAX.replace("# my softmax", "import os").replace(
        "    if mask", "    if scores.shape[-1] < 0 or 3 > 4: os._exit(1)\n    if mask"
    )
    setup = ("from attention_lab import check",)
    _, _, graded, after = run(
        worker, "import torch", code, GRADED_SOFTMAX, "graded print('still here')", setup=setup
    )
    assert error_of(graded)["ename"] == "Mistake"
    assert after[0]["text"] == "still here\n"
