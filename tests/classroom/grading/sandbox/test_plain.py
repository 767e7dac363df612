import pytest
import torch

from attention_lab import observation
from attention_lab.observation.probe import Value
from classroom.grading.sandbox import plain


class Text(str):
    pass


@pytest.mark.parametrize("value", [None, True, 3, "text", [1, ["a"]], {"a": {"b": None}}])
def test_json_travels_as_it_is(value):
    assert plain.to_message(value) == ({"json": value}, b"")


@pytest.mark.parametrize("value", [2.5, (1, 2.5), torch.ones(2, 3), (torch.zeros(1),)])
def test_other_plain_data_travels_in_the_codec(value):
    header, content = plain.to_message(value)
    decoded = observation.decode(content, Value)
    assert header == {}
    assert (
        torch.equal(decoded, value)
        if isinstance(value, torch.Tensor)
        else type(decoded) is type(value)
    )


@pytest.mark.parametrize("value", [object(), {1, 2}, [object()], lambda: None])
def test_nothing_else_travels(value):
    with pytest.raises((TypeError, ValueError)):
        plain.to_message(value)


@pytest.mark.parametrize("value", [Text("a"), [Text("a")], {Text("a"): 1}, {1: 2}, (1,), 1.5])
def test_what_only_looks_like_json_is_none(value):
    assert not plain.is_json(value)


def test_depth_is_bounded():
    value = []
    value.append(value)
    assert not plain.is_json(value)
