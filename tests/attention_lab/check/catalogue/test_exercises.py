import pytest
import torch
from tests.attention_lab.check.steps.test_proofs import Layer

from attention_lab import check
from attention_lab.check import Mistake
from attention_lab.check.catalogue import exercises
from attention_lab.check.catalogue.entry import Fitted

# Dividing twice by the root is dividing by d_head; the root of one query is 1.
SAME_NUMBERS = {"double-scale": "scale-without-sqrt", "scale-by-seq-len": "missing-scale"}
PROOFS = (exercises.one_query, exercises.one_head)
STRETCH = [known for known in exercises.ALL if known not in PROOFS]


def cases(of):
    return [
        pytest.param(known.step, entry, _made(faulty), id=f"{known.step}-{entry.slug}")
        for known in of
        for entry in known
        for faulty in entry.faulty[:1]
    ]


def _made(faulty):
    return faulty.make(0.5) if isinstance(faulty, Fitted) else faulty


def told(checked, *args):
    """What a check says of an answer."""
    with pytest.raises(Mistake) as mistake:
        checked(*args)
    assert len(str(mistake.value).splitlines()) <= 6 + bool(mistake.value.where)
    return mistake.value


@pytest.mark.parametrize(("name", "entry", "faulty"), cases(STRETCH))
def test_it_is_told_by_its_name(name, entry, faulty):
    found = told(getattr(check, name), lambda *args: faulty(*args))
    fitting = (entry.slug, SAME_NUMBERS.get(entry.slug), None)
    assert entry.means in found.means or found.misconception in fitting


@pytest.mark.parametrize(("name", "entry", "faulty"), cases([exercises.one_query]))
def test_a_query_by_itself_is_told_by_its_name(name, entry, faulty):
    answer = lambda *given: faulty(*map(torch.tensor, given)).tolist()  # noqa: E731
    assert told(check.one_query, answer).misconception == entry.slug


@pytest.mark.parametrize(("name", "entry", "faulty"), cases([exercises.one_head]))
def test_a_head_by_itself_is_told_by_its_name(name, entry, faulty):
    assert told(check.one_head, faulty, Layer).misconception == entry.slug


def test_no_explanation_gives_the_answer_away():
    for known in exercises.ALL:
        for entry in known:
            text = entry.means + entry.look
            assert not any(code in text for code in ("(B, 1, 1", "repeat_interleave", "torch.cat"))
