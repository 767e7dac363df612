import pytest
import torch
from tests.attention_lab.check.learner import mistake

from attention_lab import NotWrittenYet, check
from attention_lab.check import diagnose


def test_a_mistake_that_fits_gives_its_name_and_its_words():
    found = mistake("attention_scores", "return q @ k.mT")
    assert found.misconception == "missing-scale"
    assert "not divided by sqrt(d_head)" in found.means


def test_where_two_fit_both_are_told():
    assert "(Or: " in mistake("attention_scores", "return q @ k.mT / q.size(-1)").means


def test_where_none_fits_nothing_is_claimed():
    found = mistake("attention_scores", "return (q @ k.mT).sin()")
    assert found.misconception is None
    assert "the sum is not" in found.means


def broken(*args):
    raise RuntimeError("a signature that was not made for this")


@pytest.mark.parametrize("part", ["recognise", "card"])
def test_whatever_happens_while_explaining_there_is_a_mistake(part, monkeypatch):
    monkeypatch.setattr(diagnose, part, broken)
    found = mistake("attention_scores", "return q @ k.mT")
    assert found.misconception is None
    assert found.seen == "with B=3, T=7, d_model=30, 5 heads, other numbers."


def test_a_stub_is_only_told_to_be_one():
    def attend(weights, v):
        raise NotWrittenYet

    with pytest.raises(check.Mistake, match="not written yet"):
        check.attend(attend)


def test_numbers_in_a_variable_of_the_notebook_are_named(monkeypatch):
    monkeypatch.setitem(globals(), "B", 3)

    def merge_heads(x):
        return x.transpose(1, 2).reshape(B, x.size(2), -1)  # noqa: F821

    with pytest.raises(check.Mistake) as caught:
        check.merge_heads(merge_heads)
    assert caught.value.misconception == "uses-notebook-globals"


def test_no_expected_number_is_told():
    message = str(mistake("attend", "return torch.zeros_like(v)"))
    assert "tensor(" not in message
    assert torch.is_tensor(message) is False
