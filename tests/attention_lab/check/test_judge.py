"""The judge alone: what a right answer shows, changed in one place at a time."""

from dataclasses import replace

import pytest
import torch

from attention_lab.check import judge as judging
from attention_lab.check.judge import KINDS, judge, tensors
from attention_lab.check.probes import probes
from attention_lab.check.references import expect
from attention_lab.observation import Failure, Layer, Observation, Tag, Unknown


def right(step, hidden=False):
    made = probes(step, 0, hidden)
    expected = tuple(expect(probe) for probe in made)
    return made, tuple(map(in_float32, made, expected)), expected


def in_float32(probe, seen):
    """What was seen, in the dtype in which an answer gives it."""
    outcomes = tuple(
        replace(o, output=like(c, o.output), args=c.args, gradients=(), layers=())
        for o, c in zip(seen.outcomes, probe.calls, strict=True)
    )
    outcomes = tuple(
        replace(o, gradients=tuple(map(single, old.gradients)))
        for o, old in zip(outcomes, seen.outcomes, strict=True)
    )
    return replace(seen, outcomes=outcomes, called=(), calls=0)


def like(call, output):
    asked = [getattr(arg, "dtype", arg) for arg in call.args]
    return output if torch.float64 in asked else single(output)


def single(value):
    if isinstance(value, tuple):
        return tuple(map(single, value))
    return value.float() if isinstance(value, torch.Tensor) else value


def symptoms(step, index=0, call=0, hidden=False, **changed):
    """The symptoms after changing one outcome of one probe."""
    made, seen, expected = right(step, hidden)
    outcomes = list(seen[index].outcomes)
    outcomes[call] = replace(outcomes[call], **changed)
    seen = list(seen)
    seen[index] = replace(seen[index], outcomes=tuple(outcomes))
    return judge(made, tuple(seen), expected).symptoms


def one(step, **changed):
    (symptom,) = symptoms(step, **changed)
    return symptom.aspect, symptom.kind


@pytest.mark.parametrize("step", ["project", "split_heads", "masked_softmax", "merge_heads"])
def test_nothing_is_wrong_with_what_is_right(step):
    assert judge(*right(step, hidden=True)).symptoms == ()


OUTPUT = right("merge_heads")[1][0].outcomes[0].output
NUDGED = OUTPUT.clone()
NUDGED[0, 0, 0] += 1e-3


@pytest.mark.parametrize(
    ("output", "verdict"),
    [
        (OUTPUT[..., :-1], ("shape", "shape")),
        (OUTPUT[None], ("shape", "shape")),
        ((OUTPUT, OUTPUT), ("shape", "count")),
        ((OUTPUT,), ("shape", "count")),
        (None, ("shape", "type")),
        (Unknown("ndarray"), ("shape", "type")),
        (3.0, ("shape", "type")),
        (OUTPUT.double(), ("value", "dtype")),
        (OUTPUT.to("meta"), ("manner", "device")),
        (NUDGED, ("value", "value")),
        (torch.full_like(OUTPUT, torch.nan), ("value", "nan")),
        (torch.full_like(OUTPUT, torch.inf), ("value", "value")),
    ],
)
def test_outputs(output, verdict):
    assert one("merge_heads", output=output) == verdict


def test_a_difference_below_the_tolerance_is_none():
    assert symptoms("merge_heads", output=OUTPUT + 5e-6) == ()


def test_a_stacked_tensor_and_a_tuple_are_the_same_projections():
    q, k, v = right("project")[1][0].outcomes[0].output
    assert symptoms("project", output=torch.stack([q, k, v])) == ()
    assert one("project", output=torch.stack([q, v, k])) == ("value", "value")
    assert one("project", output=torch.stack([q, k])) == ("shape", "count")


@pytest.mark.parametrize(
    ("join", "shape"),
    [
        (lambda q, k, v: q, (3, 7, 30)),
        (lambda q, k, v: torch.cat([q, k, v], -1), (3, 7, 90)),
        (lambda q, k, v: torch.stack([q, k, v], -1), (3, 7, 30, 3)),
    ],
)
def test_a_lone_tensor_is_not_taken_apart_along_its_batch(join, shape):
    q, k, v = right("project")[1][0].outcomes[0].output
    (symptom,) = symptoms("project", output=join(q, k, v))
    assert (symptom.kind, symptom.got, symptom.wanted) == ("count", (shape,), ((3, 7, 30),) * 3)


def test_errors_cost_the_shape_only_where_everybody_must_pass():
    failure = Failure("RuntimeError", "no")
    assert one("split_heads", failure=failure) == ("shape", "error")
    made = probes("split_heads", 0, hidden=True)
    strided = next(i for i, p in enumerate(made) if Tag.STRIDED in p.tags)
    assert one("split_heads", index=strided, hidden=True, failure=failure) == ("value", "error")


def test_an_answer_that_cannot_be_tried():
    made, seen, expected = right("split_heads")
    seen = (Observation(failure=Failure("Unusable", "it is an int")), *seen[1:])
    (symptom,) = judge(made, seen, expected).symptoms
    assert (symptom.aspect, symptom.kind) == ("shape", "unusable")


GRADIENTS = right("attention_scores")[1][0].outcomes[0].gradients


@pytest.mark.parametrize(
    ("changed", "kind"),
    [
        ({"gradients": (None, GRADIENTS[1])}, "gradient missing"),
        ({"gradients": (torch.zeros_like(GRADIENTS[0]), GRADIENTS[1])}, "gradient missing"),
        ({"gradients": ()}, "gradient missing"),
        ({"gradients": (GRADIENTS[0] * 1.01, GRADIENTS[1])}, "gradient"),
        ({"gradients": (GRADIENTS[0][..., :1], GRADIENTS[1])}, "gradient"),
        ({"gradients": (GRADIENTS[0] * torch.nan, GRADIENTS[1])}, "gradient nan"),
        ({"backward_failure": Failure("RuntimeError", "inplace")}, "gradient error"),
    ],
)
def test_gradients(changed, kind):
    assert one("attention_scores", **changed) == ("manner", kind)


def test_changed_arguments_and_layers():
    x, *layers = probes("project", 0)[0].calls[0].args
    assert one("project", args=(x + 1, *layers)) == ("manner", "argument changed")
    bent = Layer(layers[0].weight * 2, layers[0].bias)
    assert one("project", args=(x, bent, *layers[1:])) == ("manner", "layer changed")
    assert one("project", args=(x.flatten(), *layers)) == ("manner", "argument changed")


@pytest.mark.parametrize(
    ("failure", "counts"),
    [
        (Failure("RuntimeError", "tensors on the same device, but found cpu and meta"), True),
        (Failure("NotImplementedError", "Cannot copy out of meta tensor; no data!"), False),
        (Failure("RuntimeError", "Tensor.item() cannot be called on meta tensors"), False),
    ],
)
def test_on_another_device_only_a_clash_counts(failure, counts):
    made = probes("attend", 0, hidden=True)
    on_meta = next(i for i, p in enumerate(made) if p.elsewhere)
    found = symptoms("attend", index=on_meta, hidden=True, failure=failure, output=None)
    assert [(s.aspect, s.kind) for s in found] == ([("manner", "device")] if counts else [])


def counted(step, calls, called=()):
    made, seen, expected = right(step)
    numbers = iter(calls)
    seen = tuple(
        replace(s, calls=next(numbers), called=called) if p.heads else s
        for p, s in zip(made, seen, strict=True)
    )
    return {(s.aspect, s.kind) for s in judge(made, seen, expected).symptoms}


def test_calls_that_grow_with_the_heads_are_a_loop():
    assert counted("attend", (10, 10, 10)) == set()
    assert counted("attend", (10, 11, 11)) == set()
    assert counted("attend", (10, 12, 16)) == {("manner", "loop")}


@pytest.mark.parametrize(
    "name",
    [
        "scaled_dot_product_attention",
        "aten._scaled_dot_product_flash_attention_for_cpu.default",
        "multi_head_attention_forward",
        "_native_multi_head_attention",
        "_transformer_encoder_layer_fwd",
    ],
)
def test_library_attention(name):
    assert counted("attend", (1, 1, 1), ("matmul", name)) == {("manner", "library")}


@pytest.mark.parametrize(
    ("fill", "accepted"),
    [
        (-torch.inf, True),
        (torch.finfo(torch.float32).min, True),
        (-1e9, True),
        (-1e4, False),
        (-1, False),
    ],
)
def test_masks_are_judged_by_their_effect(fill, accepted):
    made, seen, expected = right("causal_mask")
    T = made[0].calls[0].args[0]
    mask = torch.full((T, T), float(fill)).triu(1)
    outcome = replace(seen[0].outcomes[0], output=mask)
    seen = (replace(seen[0], outcomes=(outcome, outcome)), *seen[1:])
    assert (judge(made, seen, expected).symptoms == ()) is accepted


def test_a_leak_breaks_a_law_where_no_reference_helps():
    made, seen, _ = right("MultiHeadAttention", hidden=True)
    huge = next(i for i, p in enumerate(made) if p.tolerance is None)
    leaking = seen[huge].outcomes[1].output.clone()
    leaking[:, 0] += 1
    found = symptoms("MultiHeadAttention", huge, 1, hidden=True, output=leaking)
    assert [(s.aspect, s.kind) for s in found] == [("value", "law")]


def test_a_step_is_tried_inside_a_whole_attention(monkeypatch):
    made, seen, expected = right("split_heads", hidden=True)
    whole = next(i for i, p in enumerate(made) if p.around)
    monkeypatch.setattr(judging, "_numbers", lambda *args: ())
    outcomes = list(seen[whole].outcomes)
    outcomes[1] = replace(outcomes[1], output=outcomes[1].output.flip(1))
    seen = list(seen)
    seen[whole] = replace(seen[whole], outcomes=tuple(outcomes))
    (symptom,) = judge(made, tuple(seen), expected).symptoms
    assert (symptom.kind, symptom.probe.law) == ("law", "whole")


def test_what_costs_which_points():
    found = {
        "shape": symptoms("merge_heads", output=OUTPUT[None]),
        "value": symptoms("merge_heads", output=NUDGED),
        "manner": symptoms("merge_heads", gradients=()),
    }
    costs = {
        name: [bool(judging.Verdict(s).against(aspect)) for aspect in ("shape", "value", None)]
        for name, s in found.items()
    }
    assert costs == {
        "shape": [True, True, True],
        "value": [False, True, True],
        "manner": [False, True, True],
    }


def test_the_gravest_symptom_comes_first():
    found = symptoms("merge_heads", output=NUDGED) + symptoms("merge_heads", output=OUTPUT[None])
    assert [s.aspect for s in judging.Verdict(found).against(None)] == ["shape", "value"]


def test_every_kind_is_explained():
    assert all(text[0].islower() or text[0].isupper() for text in KINDS.values())


def test_tensors_of_what_is_none():
    assert tensors("project", Unknown("dict")) is None
    assert tensors("attend", ()) is None
