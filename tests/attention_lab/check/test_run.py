import pytest
import torch
from tests.attention_lab.check.learner import typed
from tests.attention_lab.check.steps.test_proofs import Layer as OwnLayer
from tests.attention_lab.check.steps.test_proofs import one_head, one_query
from tests.attention_lab.check.test_init import MultiHeadAttention

from attention_lab import NotWrittenYet, check
from attention_lab.check import run, steps
from attention_lab.observation import (
    Failure,
    Layer,
    Observation,
    Outcome,
    RemoteAnswer,
    Request,
    Unknown,
    decode,
    encode,
    observe_encoded,
)


def mistake(step, answer, **options):
    with pytest.raises(check.Mistake) as caught:
        getattr(check, step)(answer, **options)
    return caught.value


def unwritten(*args):
    raise NotWrittenYet


def test_a_stub_gets_one_friendly_line():
    found = mistake("split_heads", unwritten)
    assert "not written yet" in str(found)
    assert found.misconception is None
    assert len(str(found).splitlines()) <= 2


@pytest.mark.parametrize("answer", [None, 3, "x", torch.ones(1), [], print, object])
@pytest.mark.parametrize("step", check.STEPS)
def test_whatever_is_handed_in_gets_a_mistake(step, answer):
    assert mistake(step, answer).step == step


def test_an_interruption_is_told_and_ends_the_check():
    def endless(x, num_heads):
        raise KeyboardInterrupt

    assert "interrupted" in str(mistake("split_heads", endless))


def test_a_seed_can_be_replayed_and_fresh_numbers_differ():
    asked = []

    class Recorder(RemoteAnswer):
        def observe(self, request):
            asked.append(request)
            return observe_encoded(steps.attend, request)

    for seed in (1, 1, 2, None, None):
        check.use_seed(seed)
        check.attend(Recorder(), hidden=True)
    assert asked[0] == asked[1]
    assert len(set(asked)) == 4
    check.use_seed(None)


def test_visible_numbers_stay_the_same():
    assert run._seed(hidden=False) == run._seed(hidden=False)


# A class that calls the learner's own steps is tried with right ones where they are wrong.


def split_heads(x, num_heads):
    B, T, d_model = x.shape
    return x.reshape(B, num_heads, T, d_model // num_heads)


class CallsOwnSplit(MultiHeadAttention):
    def forward(self, x, causal=False):
        q, k, v = steps.project(x, self.q_proj, self.k_proj, self.v_proj)
        q, k, v = (split_heads(part, self.num_heads) for part in (q, k, v))
        mask = steps.causal_mask(x.shape[1], x.device, x.dtype) if causal else None
        weights = steps.masked_softmax(steps.attention_scores(q, k), mask)
        return self.out_proj(steps.merge_heads(steps.attend(weights, v)))


class CallsOwnSplitAndForgetsTheLastLayer(CallsOwnSplit):
    def forward(self, x, causal=False):
        layer, self.out_proj = self.out_proj, torch.nn.Identity()
        try:
            return super().forward(x, causal)
        finally:
            self.out_proj = layer


def test_one_mistake_costs_one_step(capsys):
    check.MultiHeadAttention(CallsOwnSplit, hidden=True)
    assert "with right earlier steps in place of your own" in capsys.readouterr().out
    assert mistake("split_heads", split_heads).misconception == "view-instead-of-transpose"


def test_the_class_is_still_wrong_where_it_is_wrong_itself():
    found = mistake("MultiHeadAttention", CallsOwnSplitAndForgetsTheLastLayer)
    assert found.misconception == "missing-out-proj"


# What comes from a hostile process.


class Hostile(RemoteAnswer):
    def __init__(self, reply):
        self.reply = reply

    def observe(self, request):
        probes = decode(request, Request).probes
        reply = self.reply
        return reply if isinstance(reply, bytes) else encode(tuple(reply(p) for p in probes))


def outcomes(**fields):
    return lambda probe: Observation(tuple(Outcome(args=c.args, **fields) for c in probe.calls))


REPLIES = {
    "nothing": b"",
    "garbage": b"MHA1 and so on",
    "another type": encode(Failure("E", "")),
    "no outcomes": lambda probe: Observation(),
    "outcomes without arguments": lambda probe: Observation((Outcome(),) * len(probe.calls)),
    "too many gradients": outcomes(gradients=(torch.ones(1),) * 9),
    "layers from nowhere": outcomes(layers=(Layer(torch.ones(1), torch.ones(1)),)),
    "only failures": lambda probe: Observation(failure=Failure("x" * 80, "y" * 1000)),
    "odd outputs": outcomes(output=(None, (torch.ones(0),), Unknown("?"))),
    "bytes for numbers": outcomes(output=torch.ones(2, 3, dtype=torch.uint8)),
    "ghosts": outcomes(output=torch.empty(3, 7, 30, device="meta")),
    "a claim of many calls": lambda probe: Observation(
        outcomes(output=torch.ones(1))(probe).outcomes, ("matmul",) * 16, 1 << 60
    ),
}


@pytest.mark.parametrize("step", ["project", "attend", "MultiHeadAttention"])
@pytest.mark.parametrize("reply", REPLIES.values(), ids=REPLIES)
def test_hostile_replies_are_mistakes(step, reply):
    for aspect in ("shape", "value"):
        assert mistake(step, Hostile(reply), aspect=aspect, hidden=True)


def test_listeners_hear_of_every_check(monkeypatch):
    heard = []
    monkeypatch.setattr(run, "_listeners", [])
    check.listen(lambda *what: heard.append(what))
    check.attend(steps.attend, aspect="value")
    found = mistake("attend", unwritten, hidden=True)
    assert heard == [("attend", "value", False, None), ("attend", None, True, found)]


class Remote(RemoteAnswer):
    """An answer that is only reached by bytes."""

    def __init__(self, answer):
        self.answer = answer

    def observe(self, request):
        return observe_encoded(self.answer, request)


@pytest.mark.parametrize(
    ("step", "source", "slug"),
    [
        (
            "split_heads",
            "return x.view(*x.shape[:2], num_heads, x.size(2) / num_heads).transpose(1, 2)",
            "float-size",
        ),
        ("merge_heads", "return x.transpose(1, 2).flatten(2).cumsum(0)", "batch-mixed"),
        ("project", "return x * 2, x * 3, x * 4", "ignores-given-layers"),
        (
            "split_heads",
            "return x.view(*x.shape[:2], num_heads, 6).transpose(1, 2)",
            "hard-coded-size",
        ),
    ],
)
def test_a_cause_is_asked_for_where_the_answer_is(step, source, slug):
    assert mistake(step, Remote(typed(step, source)), hidden=True).misconception == slug


# What a notebook has done to torch.


@pytest.mark.parametrize(
    ("owner", "name"),
    [
        (torch.nn.MultiheadAttention, "forward"),
        (torch.nn.functional, "scaled_dot_product_attention"),
        (torch, "softmax"),
        (torch.Tensor, "masked_fill"),
    ],
)
def test_a_patched_torch_makes_no_verdict_false(owner, name, monkeypatch):
    monkeypatch.setattr(owner, name, lambda *args, **kwargs: torch.zeros(1))
    check.use_seed(None)
    check.MultiHeadAttention(MultiHeadAttention, hidden=True)
    check.attend(steps.attend, hidden=True)
    assert mistake("attend", lambda weights, v: v)


@pytest.fixture(params=["meta", "float64"])
def changed(request):
    """Another default device, as on a machine with a GPU, or another default dtype."""
    if request.param == "meta":
        torch.set_default_device("meta")
    else:
        torch.set_default_dtype(torch.float64)
    run._trials.cache_clear()
    yield
    torch.set_default_device(None)
    torch.set_default_dtype(torch.float32)


@pytest.mark.usefixtures("changed")
@pytest.mark.parametrize("step", [name for name in steps.names() if name != "one_head"])
def test_every_check_holds_under_another_default(step):
    right = MultiHeadAttention if steps.of(step).of_class else steps.of(step).right
    answer = one_query if step == "one_query" else right
    getattr(check, step)(answer, hidden=True)
    assert mistake(step, lambda *args: torch.zeros(1))


@pytest.mark.usefixtures("changed")
def test_a_head_by_itself_holds_under_another_default():
    check.one_head(one_head, OwnLayer)
