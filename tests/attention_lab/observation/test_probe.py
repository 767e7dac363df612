from dataclasses import FrozenInstanceError, fields, is_dataclass

import pytest

from attention_lab.observation import Call, Failure, Observation, Outcome, Probe, probe


def test_what_travels_cannot_be_changed():
    for made in (Probe("project", "x", ()), Call(()), Observation(), Outcome(), Failure("E", "")):
        with pytest.raises(FrozenInstanceError):
            setattr(made, fields(made)[0].name, None)


def test_every_class_says_what_it_is():
    classes = [c for c in vars(probe).values() if isinstance(c, type) and is_dataclass(c)]
    assert len(classes) == 10
    assert all(c.__doc__ and not c.__doc__.startswith(c.__name__) for c in classes)
