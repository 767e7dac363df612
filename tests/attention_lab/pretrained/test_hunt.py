"""Every answer that is called right is measured to be right, and so is every number."""

import re

import pytest

from attention_lab.pretrained import hunt, measure
from attention_lab.pretrained.hunt import HUNT


@pytest.fixture(scope="module")
def shares(minilm):
    return measure(minilm)


def share_of(head, share):
    layer, number = re.fullmatch(r"L(\d)\.H(\d+)", head).groups()
    return share[int(layer), int(number)].item()


def test_a_question_for_each_relation(shares):
    assert HUNT.keys() == shares.keys()


@pytest.mark.parametrize("name", HUNT)
def test_the_right_head_is_the_best_by_far_of_those_on_offer(name, shares):
    (right,) = (option for option in HUNT[name].options if option.right)
    found = {option.text: share_of(option.text, shares[name]) for option in HUNT[name].options}
    best = found.pop(right.text)
    assert best == shares[name].max()
    assert best > 1.2 * max(found.values())
    assert f"{best:.0%}".replace("%", " %") in right.why


@pytest.mark.parametrize("name", ["determiner → noun", "he, she → name"])
def test_the_runner_up_that_is_named(name, shares):
    (right,) = (option for option in HUNT[name].options if option.right)
    named = re.search(r"L\d\.H\d+", right.why)[0]
    second = shares[name].flatten().topk(2).values[1].item()
    assert share_of(named, shares[name]) == second


def test_what_the_heads_taken_for_others_do(shares):
    """Each explanation of a wrong answer, too, is about a head that does what is said."""
    best = {name: shares[name].max().item() for name in shares}
    for name, head in (
        ("previous token", "L0.H2"),
        ("next token", "L1.H8"),
        ("determiner → noun", "L2.H8"),
        ("same word", "L2.H9"),
        ("full stop", "L3.H11"),
        ("verb → object", "L0.H4"),
    ):
        assert share_of(head, shares[name]) == best[name]


def test_the_head_at_rest(minilm):
    weights = minilm.weights("The keys to the old cabinet are on the table.")
    assert weights[2, 7, 1:-1, 0].mean() > 0.7


def test_seven_questions_in_a_row():
    assert len(hunt().quiz.questions) == len(HUNT) == 7
