"""Each mend sets right what it is for, and leaves what is right alone."""

import math

import pytest
import torch

from attention_lab.observation import Call, Layer, Module, Probe
from attention_lab.observation.mends import MENDS, WHOLE_DIVISION
from attention_lab.observation.observe import observe
from attention_lab.observation.probe import Given

LIMIT = 3
X = torch.arange(24.0).view(2, 3, 4)


def shown(answer, *args, mend="", **options):
    (outcome,) = observe(answer, Probe("", "", (Call(args, **options),)), mend=mend).outcomes
    return outcome


@pytest.mark.parametrize(
    ("mend", "answer", "right"),
    [
        ("copying_views", lambda x: x.mT.view(-1), X.mT.flatten()),
        ("copying_views", lambda x: x.mT.view_as(x), X.mT.reshape(X.shape)),
        ("no_squeeze", lambda x: x[:1].squeeze(), X[:1]),
        ("no_rounding", lambda x: (x / 3).round(), X / 3),
        ("no_dropout", lambda x: torch.nn.functional.dropout(x, 0.9), X),
        ("no_casts", lambda x: x.half().to(torch.bfloat16).type(torch.float16), X),
        ("no_casts", lambda x: torch.ones(3, dtype=torch.float64) * x.sum(), X.sum().expand(3)),
        ("truth", lambda x: x if x else x + 1, X),
        ("unrecorded", lambda x: torch.from_numpy(x.numpy()), X),
    ],
)
def test_what_it_sets_right(mend, answer, right):
    assert torch.equal(shown(answer, X, mend=mend).output, right)
    plain = shown(answer, X, upstream=(torch.ones_like(right),))  # with gradients recorded
    if not plain.failure:
        assert plain.output.dtype != right.dtype or plain.output.tolist() != right.tolist()


@pytest.mark.parametrize("mend", [*MENDS, WHOLE_DIVISION])
def test_what_is_right_stays_right(mend):
    outcome = shown(lambda x: (x.view(6, 4).softmax(-1) @ x.mT).squeeze(0), X, mend=mend)
    assert torch.equal(outcome.output, X.view(6, 4).softmax(-1) @ X.mT)


def test_what_backward_needs_is_kept():
    def answer(x):
        e = x.exp()
        e /= 2
        return e

    upstream = (torch.ones_like(X),)
    assert shown(answer, X, upstream=upstream).backward_failure
    mended = shown(answer, X, upstream=upstream, mend="kept_for_backward")
    assert torch.allclose(mended.gradients[0], X.exp() / 2)


def test_random_numbers_are_the_same_once_seeded():
    seen = [shown(torch.rand_like, X, mend="seeded").output for _ in range(2)]
    assert torch.equal(*seen)
    assert not torch.equal(*(shown(torch.rand_like, X).output for _ in range(2)))


def test_what_is_made_lies_beside_the_input():
    calls = (Call((X,), elsewhere=True),)
    answer = lambda x: x + torch.ones(4)  # noqa: E731
    assert observe(answer, Probe("", "", calls)).outcomes[0].failure
    assert not observe(answer, Probe("", "", calls), mend="beside_input").outcomes[0].failure


def test_sizes_divide_whole():
    def halves(x, number):
        return x.view(2, -1, 12 / number)

    assert shown(halves, X, 4).failure.type == "TypeError"
    assert shown(halves, X, 4, mend=WHOLE_DIVISION).output.shape == (2, 4, 3)


def cut(x):
    return x[:, :2], x.sum(LIMIT - 1), -1e4


def test_names_and_numbers_are_what_is_given_and_only_meanwhile():
    values = (Given("LIMIT", 2), Given(2, 3), Given(-1e4, -math.inf))
    seen = observe(cut, Probe("", "", (Call((X,)),), given=values))
    part, total, number = seen.outcomes[0].output
    assert part.shape == (2, 3, 4)
    assert torch.equal(total, X.sum(1))
    assert number == -math.inf
    assert LIMIT == 3
    assert shown(cut, X).output[0].shape == (2, 2, 4)
    assert (seen.reads, set(seen.written)) == (("LIMIT",), {2, -1e4})


def test_an_answer_that_is_a_class_is_built_with_whole_sizes():
    class Cut(torch.nn.Module):
        def __init__(self, d_model, num_heads):
            super().__init__()
            self.q = torch.nn.Linear(d_model, d_model)
            self.d_head = d_model / num_heads

        def forward(self, x):
            return x.unflatten(-1, (-1, self.d_head))

    module = Module((4, 2), ("q",), (Layer(torch.eye(4), torch.zeros(4)),))
    probe = Probe("", "", (Call((X,)),), module=module)
    assert observe(Cut, probe).outcomes[0].failure
    assert observe(Cut, probe, mend=WHOLE_DIVISION).outcomes[0].output.shape == (2, 3, 2, 2)
