import linecache

import pytest
import torch

from attention_lab.observation import (
    Call,
    Definition,
    Layer,
    Module,
    Observation,
    Probe,
    Request,
    Surroundings,
    can_be_tried,
    decode,
    definition_of,
    encode,
    observe_edited,
)

FUNCTION = """def f(x):
    kept.append(1)
    return helper(x) + len(kept)
"""
HELPER = "def helper(x):\n    kept.append(2)\n    return x\n"
PROBE = Probe("f", "", (Call((torch.zeros(2),)),))


def defined(*cells, **names):
    for cell in cells:
        name = f"<cell {hash(cell)}>"
        linecache.cache[name] = (len(cell), None, cell.splitlines(keepends=True), name)
        exec(compile(cell, name, "exec"), names)
    return names


def output(observations):
    (observation,) = observations
    return observation.outcomes[0].output


def test_another_text_is_tried_among_copies():
    names = defined(HELPER, FUNCTION, kept=[])
    surroundings = Surroundings(names["f"], definition_of(names["f"]))
    shown = output(surroundings.observe(FUNCTION.replace("+ len", "- len"), (PROBE,)))
    assert torch.equal(shown, torch.full((2,), -2.0))
    assert names["kept"] == []


def test_a_text_that_cannot_be_defined_fails_on_every_probe():
    names = defined(HELPER, FUNCTION, kept=[])
    surroundings = Surroundings(names["f"], definition_of(names["f"]))
    (observation,) = surroundings.observe("def f(x=missing): pass", (PROBE,))
    assert observation.failure.type == "NameError"


def test_the_text_as_it_stands_tells_the_line_that_raises():
    names = defined(HELPER, FUNCTION.replace("len(kept)", "x @ 1"), kept=[])
    definition = definition_of(names["f"])
    (observation,) = Surroundings(names["f"], definition).observe(definition.text, (PROBE,))
    assert observation.outcomes[0].failure.line == "return helper(x) + x @ 1"


def test_given_functions_stand_for_the_learners():
    names = defined(HELPER, FUNCTION, kept=[])
    given = "def helper(x):\n    return x + 10"
    surroundings = Surroundings(names["f"], definition_of(names["f"]), given)
    assert float(output(surroundings.observe(FUNCTION, (PROBE,)))[0]) == 11


CLASS = """class C(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, width)
        self.calls = []
    def forward(self, x):
        self.calls.append(1)
        return self.layer(x) + len(self.calls)
"""


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize(
    ("old", "new", "shown"), [("+ len", "- len", -1.0), ("= []", "= [1, 2]", 3.0)]
)
def test_an_instance_that_is_used_again_begins_as_it_was(old, new, shown, again):
    names = defined(CLASS, nn=torch.nn)
    layer = torch.nn.Linear(2, 2)
    module = Module((2,), ("layer",), (Layer(layer.weight * 0, layer.bias * 0),))
    probe = Probe("C", "", (Call((torch.zeros(1, 2),)),), module)
    surroundings = Surroundings(names["C"], definition_of(names["C"]))
    for _ in range(3):
        found = output(surroundings.observe(CLASS.replace(old, new), (probe,), again=again))
        assert float(found[0, 0]) == shown


def test_it_travels_in_bytes():
    names = defined(HELPER, FUNCTION, kept=[])
    surroundings = Surroundings(names["f"], definition_of(names["f"]))
    reply = observe_edited(surroundings, FUNCTION, encode(Request((PROBE,))), False)
    assert float(output(decode(reply, tuple[Observation, ...]))[0]) == 2


@pytest.mark.parametrize(
    ("cells", "may"),
    [
        (("def f(x):\n    return x",), True),
        (("def f(x):\n    import math\n    return math.pi",), True),
        ((HELPER, FUNCTION), True),
        (("def f(x):\n    import os\n    return x",), False),
        (("def helper(x):\n    while x: pass\n", "def f(x):\n    return helper(x)"), False),
        (("def f(x):\n    kept[0] = 1",), False),
        (("def f(x):\n    torch.x = 1",), False),
        (("def f(x):\n    return other(x)",), False),  # an object of a class that is not known
        (("def f(x):\n    return open(x)",), False),
    ],
)
def test_what_may_be_run_again(cells, may):
    names = defined(*cells, kept=[], torch=torch, other=type("Other", (), {"__module__": "o"})())
    definition = definition_of(names["f"])
    assert isinstance(definition, Definition)
    assert can_be_tried(names["f"], definition) is may
