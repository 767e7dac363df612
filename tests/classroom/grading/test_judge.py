"""Graded cells on answers that live in this process."""

import pytest
import torch

from attention_lab import check, observation
from attention_lab.check import run
from classroom.grading.job import Cell, Job
from classroom.grading.judge import CourseError, Judge
from classroom.grading.sandbox.shell import Shell

SETUP = ("from attention_lab import check",)
VISIBLE = 'check.split_heads(split_heads, aspect="value")'
HIDDEN = 'check.split_heads(split_heads, aspect="value", hidden=True)'
SHAPE = 'check.split_heads(split_heads, aspect="shape", hidden=True)'
BOTH = f"{VISIBLE}\n{HIDDEN}"


class Learner:
    """A submission that has defined these functions; counts how often they were tried."""

    def __init__(self, **names):
        self.names = names
        self.tried = 0
        self.proven = {}

    def observer(self):
        return self

    def close(self):
        pass

    def ask(self, do, name, payload=b"", steps=False):
        if do == "describe":
            return {"is": "callable" if name in self.names else "missing"}, b""
        self.tried += 1
        return {}, observation.observe_encoded(self.names[name], payload)


def right(x, num_heads):
    return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)


def right_but_for_rounding(x, num_heads):
    return right(x, num_heads) * (1 + 1e-12)


def wrong(x, num_heads):
    B, T, d_model = x.shape
    return x.reshape(B, num_heads, T, d_model // num_heads)


def wrong_for_one_token(x, num_heads):
    return right(x, num_heads) * (x.shape[1] > 1)


def of_another_shape(x, num_heads):
    return right(x, num_heads)[..., 0]


@pytest.fixture
def judge():
    judge = Judge(1, 1 << 20)
    judge.begin(SETUP)
    yield judge
    Shell.clear_instance()
    check.use_seed(None)


def text(ran):
    return "".join(output.get("text", "") for output in ran.outputs)


def error(ran):
    (found,) = [output for output in ran.outputs if output["output_type"] == "error"]
    return found


def test_right_answer_is_tried_once_and_one_line_is_shown(judge):
    learner = Learner(split_heads=right)
    ran = judge.run(BOTH, learner).ran
    assert learner.tried == 1
    assert text(ran).count("\N{CHECK MARK}") == 1
    assert ran.misconception is None


def test_numbers_stay_the_judges_whatever_else_drew_some(judge):
    check.use_seed(None)
    judge.begin(SETUP)
    for answer in (right, right_but_for_rounding):
        assert text(judge.run(HIDDEN, Learner(split_heads=answer)).ran).count("\N{CHECK MARK}") == 1


@pytest.mark.parametrize("answer", [right, wrong_for_one_token])
def test_shape_of_values_is_not_asked_for_where_it_is_right(judge, answer):
    judge.run(SHAPE, Learner(split_heads=right))  # from now on it is known what is printed
    learner = Learner(split_heads=answer)
    value = judge.run(BOTH, learner)
    tried = learner.tried
    shape = judge.run(SHAPE, learner)
    assert learner.tried == tried
    assert shape.observer is None
    assert "split_heads, shape: right" in text(shape.ran)
    assert text(shape.ran) != text(value.ran)


@pytest.mark.parametrize(
    ("first", "then"),
    [
        (BOTH, VISIBLE),  # it might have been tried on other numbers only
        (VISIBLE, SHAPE),  # hidden trials are still to come
        (BOTH, SHAPE.replace("check.split_heads", "check.merge_heads")),
        (BOTH, "split_heads()"),
    ],
)
def test_whatever_else_is_wanted_is_asked_for(judge, first, then):
    learner = Learner(split_heads=right)
    judge.run(first, learner)
    tried = learner.tried
    judge.run(then, learner)
    assert learner.tried > tried


def test_shape_that_is_wrong_is_asked_for(judge):
    judge.run(SHAPE, Learner(split_heads=right))
    learner = Learner(split_heads=of_another_shape)
    judge.run(BOTH, learner)
    assert learner.proven == {}
    assert error(judge.run(SHAPE, learner).ran)["ename"] == "Mistake"


def test_mistake_is_shown_on_the_trials_that_the_learner_knows(judge):
    ran = judge.run(BOTH, Learner(split_heads=wrong)).ran
    alone = judge.run(VISIBLE, Learner(split_heads=wrong)).ran
    assert error(ran)["evalue"] == error(alone)["evalue"]
    assert ran.misconception == alone.misconception is not None


def test_mistake_that_only_hidden_trials_show_costs_the_points(judge):
    assert "\N{CHECK MARK}" in text(
        judge.run(VISIBLE, Learner(split_heads=wrong_for_one_token)).ran
    )
    ran = judge.run(BOTH, Learner(split_heads=wrong_for_one_token)).ran
    assert error(ran)["ename"] == "Mistake"


def test_answer_that_is_right_from_the_second_time_on_stays_wrong(judge):
    class Hesitant(Learner):
        def ask(self, do, name, payload=b"", steps=False):
            self.names["split_heads"] = right if self.tried else wrong
            return super().ask(do, name, payload)

    assert error(judge.run(HIDDEN, Hesitant(split_heads=wrong)).ran)["ename"] == "Mistake"


def test_cell_with_a_visible_check_alone_is_judged_by_it(judge):
    assert error(judge.run(VISIBLE, Learner(split_heads=wrong)).ran)["ename"] == "Mistake"
    assert "\N{CHECK MARK}" in text(judge.run(VISIBLE, Learner(split_heads=right)).ran)


@pytest.mark.parametrize("answer", [wrong, right])
def test_cell_runs_under_its_number(judge, answer):
    assert judge.run(BOTH, Learner(split_heads=answer), count=7).ran.count == 7


@pytest.mark.parametrize(
    ("sources", "order"),
    [((SHAPE, BOTH), (1, 0)), (("limit = 1", BOTH), (0, 1)), (("import math", BOTH), (0, 1))],
)
def test_values_are_judged_first_unless_a_cell_defines_something(judge, sources, order):
    cells = [Cell(i, source, True) for i, source in enumerate(sources)]
    assert tuple(cell.index for cell in judge.in_order(cells)) == order


def test_check_is_itself_again_afterwards(judge):
    judge.run(BOTH, Learner(split_heads=right))
    assert judge.shell.user_ns["check"] is check


def test_check_is_itself_again_after_an_error(judge, monkeypatch):
    def interrupted(source):
        raise KeyboardInterrupt

    monkeypatch.setattr(judge.shell, "run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        judge.run(BOTH, Learner(split_heads=right))
    assert judge.shell.user_ns["check"] is check


def test_cell_that_asks_for_a_missing_function_fails(judge):
    assert error(judge.run(BOTH, Learner()).ran)["ename"] == "NameError"


def test_numbers_of_the_course_are_not_the_learners(judge):
    judge.begin((*SETUP, "import torch\nx = torch.ones(2)"))
    assert judge.run("assert x.sum() == 2", Learner(x=torch.zeros)).ran.outputs == ()


def test_what_is_right_is_worked_out_before_the_first_submission(judge, monkeypatch):
    asked = []
    expect = run.expect
    monkeypatch.setattr(run, "expect", lambda probe: asked.append(probe) or expect(probe))
    run._trials.cache_clear()
    judge.prepare(Job((Cell(0, "wrong", False), Cell(1, BOTH, True)), SETUP))
    before = len(asked)
    judge.begin(SETUP)
    assert "hidden ones" in text(judge.run(BOTH, Learner(split_heads=right)).ran)
    assert len(asked) == before > 0


def test_questions_are_known_before_the_first_submission(judge):
    judge.prepare(Job((Cell(0, BOTH, True), Cell(1, SHAPE, True)), SETUP))
    asked = []

    class Asked(Learner):
        def ask(self, do, name, payload=b"", steps=False):
            asked.extend([payload] * (do == "observe"))
            return super().ask(do, name, payload)

    judge.begin(SETUP)
    judge.run(BOTH, Asked(split_heads=right))
    assert asked[0] in judge.questions
    assert len(judge.questions) == 2


def test_questions_are_in_the_order_of_the_checks(judge):
    cells = [f"check.{step}({step}, hidden=True)" for step in reversed(check.STEPS)]
    judge.prepare(Job(tuple(Cell(i, cell, True) for i, cell in enumerate(cells)), SETUP))
    asked = [observation.decode(q, observation.Request).probes[0].step for q in judge.questions]
    assert asked == list(reversed(check.STEPS))


@pytest.mark.parametrize("source", ["check.(", "x = '\0'"])
def test_graded_cell_that_cannot_be_compiled_is_the_courses_error(judge, source):
    with pytest.raises(CourseError, match="is no Python"):
        judge.prepare(Job((Cell(0, source, True),), SETUP))


def test_preparing_leaves_nothing_behind(judge):
    judge.prepare(Job((Cell(0, "left = split_heads", True),), SETUP))
    judge.begin(SETUP)
    assert not {"left", "split_heads"} & set(judge.shell.user_ns)
