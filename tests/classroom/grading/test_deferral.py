import pytest

from classroom.grading.deferral import Deferring


class Check:
    """A module of checks that keeps what it was asked; `refuse` makes hidden checks fail."""

    STEPS = ("project", "attend")
    Mistake = AssertionError

    def __init__(self):
        self.asked = []
        self.refuse = False
        for step in self.STEPS:
            setattr(self, step, self._named(step))

    def _named(self, step):
        def check(answer, *, aspect=None, hidden=False):
            self.asked.append((step, answer, aspect, hidden))
            if self.refuse:
                raise AssertionError(step)

        check.__name__ = step
        return check


@pytest.fixture
def check():
    return Check()


@pytest.fixture
def deferring(check):
    return Deferring(check)


def test_visible_check_is_not_run_where_the_hidden_one_passes(check, deferring):
    deferring.attend("answer", aspect="value")
    deferring.attend("answer", aspect="value", hidden=True)
    assert check.asked == [("attend", "answer", "value", True)]
    assert not deferring.pending


def test_visible_check_alone_stays_open(deferring):
    deferring.attend("answer")
    assert deferring.pending


@pytest.mark.parametrize(
    ("step", "answer", "aspect"),
    [("project", "answer", "value"), ("attend", "other", "value"), ("attend", "answer", "shape")],
)
def test_only_the_same_question_is_answered(deferring, step, answer, aspect):
    deferring.attend("answer", aspect="value")
    getattr(deferring, step)(answer, aspect=aspect, hidden=True)
    assert len(deferring.pending) == 1


def test_hidden_check_that_fails_raises_and_leaves_the_visible_one_open(check, deferring):
    check.refuse = True
    deferring.attend("answer")
    with pytest.raises(AssertionError, match="attend"):
        deferring.attend("answer", hidden=True)
    assert deferring.pending


def test_hidden_check_answers_no_visible_one_that_comes_later(deferring):
    deferring.attend("answer", hidden=True)
    deferring.attend("answer")
    assert deferring.pending


def test_everything_else_is_the_modules_own(check, deferring):
    assert deferring.Mistake is check.Mistake
    assert deferring.STEPS == check.STEPS
    with pytest.raises(AttributeError):
        _ = deferring.nothing
