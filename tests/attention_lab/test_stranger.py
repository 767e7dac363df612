import pytest
import torch

from attention_lab import check, example, stranger
from attention_lab.stranger import FAULTS, Stranger, fault_of

BY_FAULT = {fault_of(number): number for number in range(60)}


def drawn(fault):
    return Stranger(BY_FAULT[fault])


def test_every_fault_is_drawn():
    assert BY_FAULT.keys() == set(FAULTS)


@pytest.mark.parametrize("fault", FAULTS)
def test_every_layer_runs_and_has_right_shapes_and_wrong_numbers(fault):
    layer = drawn(fault).layer(12, 3)
    assert layer(torch.randn(2, 5, 12), True).shape == (2, 5, 12)
    check.MendedAttention(type(layer), aspect="shape")
    with pytest.raises(check.Mistake) as mistake:
        check.MendedAttention(type(layer), aspect="value")
    assert mistake.value.misconception


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_a_line_or_two_of_the_right_layer(fault):
    right, wrong = stranger._RIGHT.splitlines(), drawn(fault).code.splitlines()
    assert 1 <= len(set(wrong) - set(right)) <= 3


def test_without_its_fault_it_is_right():
    names = {"torch": torch, "math": __import__("math")}
    exec(stranger._RIGHT, names)
    mended = type("Mended", (stranger.Layer,), {"forward": names["forward"]})
    check.MendedAttention(mended, hidden=True)


@pytest.mark.parametrize("fault", FAULTS)
def test_its_fault_can_be_seen_and_is_not_told(fault, capsys):
    heads = drawn(fault).look()
    everything, closed = (frame.weights for frame in heads.scene.frames)
    words = [line.split() for line in capsys.readouterr().out.splitlines()[1:]]
    first = [row[-2].split("+")[0] for row in words]
    previous = [example.tokens[max(at - 1, 0)] for at in range(6)]
    seen = {
        "rows": abs(everything.sum(-1) - 1).max() < 1e-3,
        "closed rows": abs(closed.sum(-1) - 1).max() < 1e-3,
        "no future": (closed * torch.ones(6, 6).triu(1).numpy()).max() < 1e-3,
        "words": first == previous,
    }
    wrong = {
        "split": {"words"},
        "axis": {"rows", "closed rows"},
        "late": {"closed rows"},
        "past": {"no future"},
        "merge": {"words"},
    }
    assert {name for name, right in seen.items() if not right} == wrong[fault]
    assert heads.diagnose() == []


@pytest.mark.parametrize("number", ["7", 1.5, True, None])
def test_a_number_is_whole(number):
    with pytest.raises(TypeError, match="whole number"):
        fault_of(number)
