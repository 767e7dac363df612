from dataclasses import FrozenInstanceError, fields, is_dataclass

import pytest
import torch

from attention_lab.observation import Call, Failure, Layer, Observation, Outcome, Probe, probe


def test_what_travels_cannot_be_changed():
    for made in (Probe("project", "x", ()), Call(()), Observation(), Outcome(), Failure("E", "")):
        with pytest.raises(FrozenInstanceError):
            setattr(made, fields(made)[0].name, None)


def test_every_class_says_what_it_is():
    classes = [c for c in vars(probe).values() if isinstance(c, type) and is_dataclass(c)]
    assert len(classes) == 10
    assert all(c.__doc__ and not c.__doc__.startswith(c.__name__) for c in classes)


def test_layers_hold_what_was_last_written():
    old, new = (Layer(torch.eye(2), torch.zeros(2)),) * 4, (Layer(torch.ones(2, 2), None),) * 4
    calls = (Call(()), Call((), layers=new), Call(()))
    made = Probe("MultiHeadAttention", "x", calls, module=probe.Module((2, 1), tuple("qkvo"), old))
    assert [made.layers_at(call) for call in range(3)] == [old, new, new]
    assert Probe("project", "x", calls[:1]).layers_at(0) == ()


def test_an_answer_is_not_told_what_only_a_judge_needs():
    inside = Probe("project", "x", ())
    options = {"basic": True, "tags": (probe.Tag.LONG,), "law": "whole", "around": inside}
    made = Probe("attend", "a try", (Call(()),), heads=3, tolerance=1.0, **options)
    assert vars(made.asked) == vars(Probe("attend", "", made.calls, heads=3))
