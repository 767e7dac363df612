"""Every faulty implementation of the catalogue is rejected, and never called by another's name."""

import pytest
from torch import nn

from attention_lab import check
from attention_lab.check import catalogue
from attention_lab.check.catalogue import everywhere
from attention_lab.check.catalogue.entry import Fitted


class FourLayers(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.d_model, self.num_heads, self.d_head = d_model, num_heads, d_model // num_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.out_proj = nn.Linear(d_model, d_model)


def as_answer(step, faulty):
    if step != "MultiHeadAttention":
        return lambda *args: faulty(*args)
    return type("Faulty", (FourLayers,), {"forward": lambda self, *args: faulty(self, *args)})


def faulty_answers():
    """The first implementation of every mistake: its variants are other ways to make the same."""
    for step in check.STEPS:
        for entry in catalogue.of_step(step):
            for faulty in entry.faulty[:1]:
                faulty = faulty.make(0.5) if isinstance(faulty, Fitted) else faulty
                yield pytest.param(step, entry, faulty, id=f"{step}-{entry.slug}")


# No numbers tell these apart, some only inside a class: dividing twice by the root is dividing by
# d_head; True and 1 are added alike; minus -inf is plus inf; adding -1e-9 is adding nothing; values
# made by k_proj are the keys; a class only ever gives a causal mask, so only its device shows.
SAME_NUMBERS = {
    "double-scale": "scale-without-sqrt",
    "mask-ones-not-neginf": "mask-boolean-not-additive",
    "mask-sign": "mask-plus-inf",
    "mask-tiny-value": "mask-ignored",
    "shared-projection": "values-not-used",
    "mask-content-ignored": "mask-wrong-device",
}


@pytest.fixture(autouse=True)
def one_seed():
    check.use_seed(0)
    yield
    check.use_seed(None)


def mistake(step, answer):
    """What the visible trials say, or where these let it through, the hidden ones."""
    for hidden in (False, True):
        try:
            getattr(check, step)(answer, hidden=hidden)
        except check.Mistake as found:
            return found
    return None


def test_every_explanation_leaves_two_lines_for_what_was_seen():
    for step in check.STEPS:
        for entry in (*catalogue.of_step(step), *everywhere.known):
            told = str(check.Mistake(step, "value", "", entry.means, entry.look)).splitlines()
            assert len(told) <= 5, entry.slug


@pytest.mark.parametrize(("step", "entry", "faulty"), list(faulty_answers()))
def test_it_is_rejected_and_never_misnamed(step, entry, faulty):
    found = mistake(step, as_answer(step, faulty))
    assert found, "it was accepted"
    assert len(str(found).splitlines()) <= 6 + bool(found.where)
    fitting = (entry.slug, SAME_NUMBERS.get(entry.slug), None)
    assert entry.means in found.means or found.misconception in fitting
