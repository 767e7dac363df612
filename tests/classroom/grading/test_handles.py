import pytest
import torch

from attention_lab import observation
from classroom.grading import handles
from classroom.grading.learner import NoAnswer
from classroom.grading.sandbox import plain


class Observer:
    """Answers as a submission with these names would."""

    def __init__(self, **names):
        self.names = names
        self.asked = []

    def ask(self, do, name, payload=b"", steps=False):
        self.asked.append((do, name))
        if do == "observe":
            return {}, b"observed " + payload
        if do == "call":
            return plain.to_message(self.names[name](*observation.decode(payload, plain.ARGUMENTS)))
        if name not in self.names:
            return {"is": "missing"}, b""
        value = self.names[name]
        if callable(value):
            return {"is": "callable"}, b""
        header, content = plain.to_message(value)
        return {"is": "data", **header}, content


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("check.project(project)", ["check", "project"]),
        ("x = 1\nprint(x + y)", ["y"]),
        ("import math\nmath.sqrt(z)", ["z"]),
        ("[a for a in b]", ["b"]),
        ("def f(p):\n    return p + q\nf(r)", ["q", "r"]),
        ("print(len(x))", ["x"]),
        ("lambda a: a + b", ["b"]),
        ("class A:\n    x = y", ["y"]),
    ],
)
def test_names_a_cell_takes_from_elsewhere(source, names):
    assert handles.names_used(source) == names


def test_functions_become_handles_and_data_is_copied():
    observer = Observer(double=lambda x: 2 * x, size=3, x=torch.ones(2))
    found = handles.bind(["double", "size", "x", "missing"], observer, show_steps=False)
    assert found.keys() == {"double", "size", "x"}
    assert found["size"] == 3
    assert torch.equal(found["x"], torch.ones(2))
    assert torch.equal(found["double"](torch.ones(2)), 2 * torch.ones(2))


def test_handle_passes_requests_on():
    request = observation.encode(observation.Request(()))
    handle = handles.Handle("f", Observer(), show_steps=False)
    assert handle.observe(request) == b"observed " + request


def test_right_steps_are_kept_back_until_they_may_be_shown():
    request = observation.encode(observation.Request((), "def split_heads(): ..."))
    early = handles.Handle("f", Observer(), show_steps=False)
    with pytest.raises(NoAnswer):
        early.observe(request)
    assert early.wanted_steps
    assert handles.Handle("f", Observer(), show_steps=True).observe(request)


def test_what_is_right_with_right_steps_only_proves_nothing():
    for show_steps, proven in [(False, {"attend"}), (True, set())]:
        handle = handles.Handle("f", Observer(), show_steps)
        handle.has_right_shape("attend")
        assert handle.proven == proven


def test_what_is_proven_cannot_be_asked_for_more():
    for ask in (lambda proven: proven.observe(b""), lambda proven: proven(1)):
        proven = handles.Proven("f", {"attend"})
        with pytest.raises(NoAnswer):
            ask(proven)
        assert proven.was_asked


def test_names_that_a_cell_defines():
    assert handles.names_defined("import math\nx = y\ndef f(z):\n    w = z") == {"math", "x", "f"}


def test_anything_else_is_a_clear_message():
    class Odd(Observer):
        def ask(self, do, name, payload=b"", steps=False):
            return {"is": "something else", "type": "generator"}, b""

    with pytest.raises(NoAnswer, match="x is a generator"):
        handles.bind(["x"], Odd(), show_steps=False)


def test_data_that_cannot_be_read_is_said():
    class Odd(Observer):
        def ask(self, do, name, payload=b"", steps=False):
            return {"is": "data"}, b"MHA1 nonsense"

    with pytest.raises(NoAnswer, match="no plain data"):
        handles.bind(["x"], Odd(), show_steps=False)


def test_error_in_a_call_is_told():
    class Odd(Observer):
        def ask(self, do, name, payload=b"", steps=False):
            return {"failed": "ValueError: no"}, b""

    with pytest.raises(NoAnswer, match="f raised ValueError: no"):
        handles.Handle("f", Odd(), show_steps=False)(1)
