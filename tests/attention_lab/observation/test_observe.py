import os
import random
import sys
import warnings
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from attention_lab.observation import (
    Call,
    Layer,
    Module,
    Observation,
    Probe,
    RemoteAnswer,
    Request,
    Unknown,
    decode,
    encode,
    observe_encoded,
    read_ahead,
)
from attention_lab.observation.observe import observe

ONES = torch.ones(2, 3)

NAMES = ("q_proj", "k_proj", "v_proj", "out_proj")


def try_out(answer, *args, upstream=(), constants=(), **options):
    probe = Probe("project", "a try", (Call(args, upstream, constants),), **options)
    (seen,) = decode(observe_encoded(answer, encode(Request((probe,)))), tuple[Observation, ...])
    return seen


def outcome(answer, *args, **options):
    (single,) = try_out(answer, *args, **options).outcomes
    return single


def module_probe(*calls, training=True, dtype=torch.float32, heads=None):
    kind = {"dtype": dtype, "device": "cpu"}
    layer = Layer(torch.eye(4, **kind), torch.ones(4, **kind))
    module = Module((4, 2), NAMES, (layer,) * 4, training)
    return Probe("MultiHeadAttention", "a try", calls, module=module, heads=heads)


class FourLayers(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        for name in ("q_proj", "k_proj", "v_proj", "out_proj"):
            setattr(self, name, nn.Linear(d_model, d_model))

    def forward(self, x, causal=False):
        return self.q_proj(x)


# --- what came back ---


def test_output_is_a_copy_of_the_numbers():
    seen = outcome(lambda x: 2 * x, ONES)
    assert torch.equal(seen.output, 2 * ONES)
    assert seen.failure is None


@pytest.mark.parametrize("container", [list, tuple, iter, lambda items: (i for i in items)])
def test_several_tensors_may_come_in_any_container(container):
    seen = outcome(lambda x: container([x, 2 * x]), ONES)
    assert [float(t[0, 0]) for t in seen.output] == [1, 2]


@pytest.mark.parametrize("thing", [{"q": 1}, object(), 1j, b"x", np.ones(2)])
def test_other_things_are_named_by_their_type(thing):
    assert outcome(lambda x: thing, ONES).output == Unknown(type(thing).__name__)


def test_a_subclass_of_tensor_is_only_its_numbers():
    class Agreeable(torch.Tensor):
        def __eq__(self, other):
            return True

        __hash__ = torch.Tensor.__hash__

        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            raise RuntimeError("no")

    seen = outcome(lambda x: torch.zeros(2).as_subclass(Agreeable), ONES)
    assert type(seen.output) is torch.Tensor
    assert torch.equal(seen.output, torch.zeros(2))


def test_a_huge_result_is_only_named():
    assert isinstance(outcome(lambda x: torch.zeros(1).expand(1 << 23), ONES).output, Unknown)


# --- what went wrong ---


def raising(error):
    def answer(x):
        raise error

    return answer


class Silent(Exception):
    def __str__(self):
        raise ValueError


@pytest.mark.parametrize(
    "error",
    [ValueError("why"), SystemExit(3), GeneratorExit(), RecursionError(), Silent()],
    ids=repr,
)
def test_whatever_is_raised_is_only_told(error):
    assert outcome(raising(error), ONES).failure.type == type(error).__name__


def test_an_interruption_goes_through():
    with pytest.raises(KeyboardInterrupt):
        outcome(raising(KeyboardInterrupt()), ONES)


def test_the_learners_own_line_is_told():
    def answer(x):
        return F.linear(x, torch.ones(5, 5))

    assert outcome(answer, ONES).failure.line == "return F.linear(x, torch.ones(5, 5))"


def test_an_error_in_a_given_step_names_it_and_the_line_that_called_it():
    class Careless(FourLayers):
        def forward(self, x, causal=False):
            return project(x)  # noqa: F821, given while it is tried

    substitutes = "def project(x):\n    return x @ torch.ones(1, 1)\n\nimport torch"
    probe = module_probe(Call((torch.ones(1, 2, 4),)))
    request = encode(Request((probe,), substitutes=substitutes))
    (seen,) = decode(observe_encoded(Careless, request), tuple[Observation, ...])
    (failure,) = (outcome.failure for outcome in seen.outcomes)
    assert (failure.type, failure.inside) == ("RuntimeError", "project")
    assert failure.line.startswith("return project(x)")


def test_an_error_elsewhere_is_in_no_given_step():
    assert outcome(raising(ValueError()), ONES).failure.inside == ""


def test_only_a_stack_of_as_many_tensors_as_expected_is_unpacked():
    three = torch.ones(3, 2, 5)
    stack = torch.stack([three] * 3)
    for answer, unpacked in ((lambda x: stack, True), (lambda x: three, False)):
        seen = outcome(answer, ONES, upstream=(three,) * 3)
        assert isinstance(seen.output, tuple) == unpacked


@pytest.mark.parametrize("thing", [None, 3, "split_heads", torch.ones(1), FourLayers])
def test_what_is_no_function_is_told(thing):
    assert try_out(thing, ONES).failure.type == "Unusable"


class NoLayers(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()


class TakesLayerAway(FourLayers):
    def forward(self, x, causal=False):
        self.query = self.q_proj
        del self.q_proj
        return self.query(x)


class WrapsLayer(FourLayers):
    def __init__(self, d_model, num_heads):
        super().__init__(d_model, num_heads)
        self.v_proj = nn.Sequential(self.v_proj)


class TooSmall(FourLayers):
    def __init__(self, d_model, num_heads):
        super().__init__(d_model, num_heads)
        self.v_proj = nn.Linear(2, 2)


class WithoutBias(FourLayers):
    def __init__(self, d_model, num_heads):
        super().__init__(d_model, num_heads)
        self.out_proj = nn.Linear(d_model, d_model, bias=False)


@pytest.mark.parametrize(
    ("cls", "told"),
    [
        (NoLayers, "it has no q_proj, which should be an nn.Linear"),
        (TakesLayerAway, "it has no q_proj, which should be an nn.Linear"),
        (WrapsLayer, "its v_proj is a Sequential, not an nn.Linear"),
        (TooSmall, "v_proj.weight has shape (2, 2), not (4, 4)"),
        (WithoutBias, "out_proj.bias has shape None, not (4,)"),
        (lambda x: x, "it is a function, not a class derived from nn.Module"),
        (nn.Linear(4, 4), "it is a Linear, not a class derived from nn.Module"),
        (int, "it is a type, not a class derived from nn.Module"),
    ],
)
def test_a_class_without_the_interface_is_told(cls, told):
    assert observe(cls, module_probe(Call((torch.ones(1, 2, 4),)))).failure.message == told


# --- weights, gradients, arguments ---


def test_weights_are_written_in_one_by_one():
    seen = observe(FourLayers, module_probe(Call((torch.zeros(1, 2, 4),))))
    assert torch.equal(seen.outcomes[0].output, torch.ones(1, 2, 4))


def test_a_layer_given_as_numbers_is_a_linear():
    layer = Layer(torch.ones(5, 3), torch.arange(5.0))
    seen = outcome(lambda x, p: p(x), ONES, layer, upstream=(torch.ones(2, 5),))
    assert seen.output[0].tolist() == [3, 4, 5, 6, 7]
    assert [tuple(g.shape) for g in seen.gradients] == [(2, 3), (5, 3), (5,)]


def test_gradients_reach_arguments_but_not_constants():
    answer = lambda x, mask: (x + mask).exp()  # noqa: E731
    seen = outcome(answer, ONES, torch.zeros(2, 3), upstream=(ONES,), constants=(1,))
    (gradient,) = seen.gradients
    assert torch.allclose(gradient, ONES.exp())


def test_a_gradient_that_is_cut_is_none():
    assert outcome(lambda x: x.detach(), ONES, upstream=(ONES,)).gradients == (None,)
    one_cut = outcome(lambda x, y: x * y.detach(), ONES, ONES, upstream=(ONES,)).gradients
    assert one_cut[0] is not None
    assert one_cut[1] is None


def test_no_backward_through_another_shape():
    assert outcome(lambda x: x.sum(), ONES, upstream=(ONES,)).gradients == ()


def test_a_broken_backward_is_told():
    def overwrites(x):
        y = x.exp()
        y += 1
        return y

    assert "inplace" in outcome(overwrites, ONES, upstream=(ONES,)).backward_failure.message


@pytest.mark.parametrize("upstream", [(), (ONES,)], ids=["forward", "with gradient"])
def test_arguments_are_shown_as_they_are_afterwards(upstream):
    seen = outcome(lambda x: x.mul_(3), ONES, upstream=upstream)
    assert torch.equal(seen.args[0], 3 * ONES)
    assert torch.equal(ONES, torch.ones(2, 3))


def test_layers_are_shown_as_they_are_afterwards():
    class Rescales(FourLayers):
        def forward(self, x, causal=False):
            self.k_proj.weight.data.mul_(2)
            return x

    seen = observe(Rescales, module_probe(Call((torch.zeros(1, 2, 4),))))
    assert [float(layer.weight[0, 0]) for layer in seen.outcomes[0].layers] == [1, 2, 1, 1]


def test_calls_are_made_one_after_the_other_on_one_instance():
    class Counts(FourLayers):
        calls = 0

        def forward(self, x, causal=False):
            self.calls += 1
            return x + self.calls

    calls = (Call((torch.zeros(1),)),) * 3
    seen = observe(Counts, module_probe(*calls))
    assert [float(o.output) for o in seen.outcomes] == [1, 2, 3]


def test_what_came_of_a_call_is_read_after_the_last_one():
    kept = torch.zeros(2)
    seen = try_out_twice(lambda x: kept.copy_(x))
    assert [o.output.tolist() for o in seen.outcomes] == [[2, 2], [2, 2]]


def test_what_cannot_be_read_is_a_failure_of_its_call():
    broken = nn.Linear(2, 2)
    del broken.weight
    first, last = try_out_twice(lambda x: broken if x[0] == 1 else x).outcomes
    assert (first.output, first.failure.type) == (None, "AttributeError")
    assert last.output.tolist() == [2, 2]


def try_out_twice(answer):
    """What is seen when `answer` gets two ones and then two twos."""
    calls = (Call((torch.ones(2),)), Call((torch.full((2,), 2.0),)))
    return observe(answer, Probe("attend", "a test", calls))


def test_layers_are_written_before_the_call_that_brings_them():
    layer = Layer(3 * torch.eye(4), torch.zeros(4))
    x = torch.ones(1, 1, 4)
    probe = module_probe(
        Call((x.double(),)), Call((x,), layers=(layer,) * 4), Call((x,)), dtype=torch.float64
    )
    outcomes = observe(FourLayers, probe).outcomes
    assert [o.output.dtype for o in outcomes] == [torch.float64, torch.float32, torch.float32]
    assert [float(o.output[0, 0, 0]) for o in outcomes] == [2, 3, 3]
    assert [o.layers for o in outcomes] == [()] * 3


class KeepsWeight(FourLayers):
    def __init__(self, d_model, num_heads):
        super().__init__(d_model, num_heads)
        self.kept = [self.q_proj.weight]

    def forward(self, x, causal=False):
        return F.linear(x, self.kept[0])


class KeepsGraph(FourLayers):
    def forward(self, x, causal=False):
        y = self.q_proj(x)
        self.kept = self.__dict__.get("kept", y)
        return y


@pytest.mark.parametrize("cls", [KeepsWeight, KeepsGraph])
def test_an_instance_goes_to_another_device_as_it_would_to_a_gpu(cls):
    here = torch.ones(1, 1, 4)
    layer = Layer(torch.eye(4), torch.ones(4))
    probe = module_probe(Call((here,)), Call((here,), layers=(layer,) * 4, elsewhere=True))
    first, last = observe(cls, probe).outcomes
    assert (first.failure, last.failure) == (None, None)
    assert not first.output.is_meta
    assert last.output.is_meta


def test_mode_dtype_and_device_are_as_asked():
    class Tells(FourLayers):
        def forward(self, x, causal=False):
            return x.new_full((1,), float(self.training))

    x = torch.zeros(1, 2, 4)
    assert float(observe(Tells, module_probe(Call((x,)), training=False)).outcomes[0].output) == 0
    double = module_probe(Call((x.double(),)), dtype=torch.float64)
    assert observe(FourLayers, double).outcomes[0].output.dtype is torch.float64
    meta = module_probe(Call((x,), elsewhere=True))
    assert observe(FourLayers, meta).outcomes[0].output.is_meta


# --- the environment ---


def changes_everything(x):
    print("hello")
    print("hello", file=sys.stderr)
    warnings.warn("careful", stacklevel=1)
    return x * torch.ones(3)


def test_prints_are_swallowed_and_warnings_are_data(capsys):
    assert try_out(changes_everything, ONES).warned == ("careful",)
    assert capsys.readouterr() == ("", "")


@pytest.fixture(params=["dtype", "device", "no_grad", "inference", "autocast", "seed"])
def changed_default(request):
    before = torch.get_rng_state()
    contexts = {
        "no_grad": torch.no_grad,
        "inference": torch.inference_mode,
        "autocast": lambda: torch.autocast("cpu", torch.bfloat16),
        "device": lambda: torch.device("meta"),
    }
    if request.param in contexts:
        with contexts[request.param]():
            yield
    else:
        torch.set_default_dtype(torch.float64 if request.param == "dtype" else torch.float32)
        torch.manual_seed(3)
        random.seed(3)
        yield
        torch.set_default_dtype(torch.float32)
    torch.set_rng_state(before)


@pytest.mark.usefixtures("changed_default")
def test_a_changed_default_of_the_notebook_changes_nothing():
    probe = module_probe(Call((torch.zeros(1, 2, 4, device="cpu", dtype=torch.float32),)))
    (built,) = decode(
        observe_encoded(FourLayers, encode(Request((probe,)))), tuple[Observation, ...]
    )
    for answer, seen in (
        (changes_everything, outcome(changes_everything, ONES, upstream=(ONES,))),
        (FourLayers, built.outcomes[0]),
    ):
        assert seen.failure is None, answer
        assert (seen.output.dtype, seen.output.device.type) == (torch.float32, "cpu")
    assert outcome(changes_everything, ONES, upstream=(ONES,)).gradients[0] is not None


def test_the_notebooks_defaults_are_as_before():
    torch.set_default_dtype(torch.float64)
    with torch.no_grad():
        outcome(changes_everything, ONES)
        assert not torch.is_grad_enabled()
    assert torch.get_default_dtype() is torch.float64
    torch.set_default_dtype(torch.float32)


# --- counting ---


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("scaled_dot_product_attention", lambda x: F.scaled_dot_product_attention(x, x, x)),
        (
            "scaled_dot_product_attention",
            lambda x: torch.ops.aten.scaled_dot_product_attention(x, x, x),
        ),
        (
            "scaled_dot_product_attention",
            lambda x: torch._C._nn.scaled_dot_product_attention(x, x, x),
        ),
        ("multi_head_attention_forward", lambda x: nn.MultiheadAttention(4, 2)(x, x, x)[0]),
    ],
)
def test_library_attention_is_seen(name, answer):
    seen = try_out(answer, torch.ones(2, 3, 4), heads=2)
    assert any(name in called for called in seen.called)


with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)

    @torch.jit.script
    def scripted(x: torch.Tensor):
        for _ in range(1):  # in a block of its own
            x = torch.nn.functional.scaled_dot_product_attention(x, x, x)
        return x


def of_the_notebook(x):
    return scripted(x)


def enclosing(script):
    return lambda x: script(x)


class HoldsScripts(FourLayers):
    def __init__(self, d_model, num_heads):
        super().__init__(d_model, num_heads)
        self.core = scripted

    def forward(self, x, causal=False):
        return self.core(x)


@pytest.mark.parametrize("answer", [scripted, of_the_notebook, enclosing(scripted)])
def test_library_attention_in_a_script_is_seen(answer):
    seen = try_out(answer, torch.ones(2, 3, 4), heads=2)
    assert "aten::scaled_dot_product_attention" in seen.called


def test_library_attention_in_a_script_that_an_instance_holds_is_seen():
    probe = replace(module_probe(Call((torch.ones(1, 2, 4),))), heads=2)
    assert "aten::scaled_dot_product_attention" in observe(HoldsScripts, probe).called


def test_a_loop_makes_more_calls():
    def loop(x):
        return torch.stack([part + 1 for part in x])

    few, many = (try_out(loop, torch.ones(n, 3), heads=n).calls for n in (2, 8))
    assert many >= few + 6
    assert try_out(loop, ONES).calls == 0


def test_a_loop_within_a_function_of_torch_is_one_call():
    few, many = (
        try_out(lambda x, n=n: torch.tensor_split(x, n)[0], torch.ones(n, 3), heads=n).calls
        for n in (2, 8)
    )
    assert few == many


# --- what the answer leans on ---

B, SCALE, COUNT = 2, 0.5, 0


def counts(x):
    global COUNT
    COUNT += 1
    return x * COUNT


def test_numbers_of_the_notebook_are_named():
    assert try_out(lambda x: x.reshape(B, -1), ONES).reads == ("B",)
    assert try_out(lambda x: next(SCALE * x for _ in range(1)), ONES).reads == ("SCALE",)
    assert try_out(lambda x: x.T, ONES).reads == ()
    assert try_out(counts, ONES).reads == (), "its own"


def test_replaced_comparisons_are_named(monkeypatch):
    monkeypatch.setattr(torch, "allclose", lambda *args: True)
    assert try_out(lambda x: x, ONES).replaced == ("allclose",)


def split_heads(x):
    return "the learner's own"


class CallsOwnStep(FourLayers):
    def forward(self, x, causal=False):
        return split_heads(x)


def test_given_steps_stand_in_for_the_learners_own_and_leave():
    probe = module_probe(Call((torch.zeros(1, 2, 4),)))
    given = "def split_heads(x):\n    return x + 1\n"
    request = encode(Request((probe,), given))
    (seen,) = decode(observe_encoded(CallsOwnStep, request), tuple[Observation, ...])
    assert torch.equal(seen.outcomes[0].output, torch.ones(1, 2, 4))
    assert split_heads(None) == "the learner's own"


def test_a_request_that_was_read_ahead_is_not_decoded_when_it_comes(monkeypatch):
    requests = [
        encode(Request((Probe("project", about, (Call((ONES,)),)),)))
        for about in ("read ahead", "not")
    ]
    read_ahead(requests[0])
    monkeypatch.setattr("attention_lab.observation.observe.decode", None)
    (seen,) = decode(observe_encoded(torch.neg, requests[0]), tuple[Observation, ...])
    assert torch.equal(seen.outcomes[0].output, -ONES)
    with pytest.raises(TypeError):
        observe_encoded(torch.neg, requests[1])


def test_a_remote_answer_is_asked_with_bytes():
    class Far(RemoteAnswer):
        def observe(self, request):
            assert decode(request, Request).probes[0].about == "a try"
            return encode((Observation(calls=os.getpid()),))

    assert try_out(Far(), ONES).calls == os.getpid()
