"""Facts are told where they were seen, and nowhere else."""

import pytest
from tests.attention_lab.check.learner import evidence, mistake, of_class

from attention_lab.check import facts
from attention_lab.check.judge import Symptom
from attention_lab.observation import Failure, Probe

SDPA = "m = F.scaled_dot_product_attention(q, k, v, is_causal=causal)"
SEEN = {
    "changed_argument": ("attend", "v += 1\nreturn weights @ v", "mutates-input"),
    "called_library": (
        "MultiHeadAttention",
        of_class(scores="", mask="", mix=SDPA),
        "forbidden-library-call",
    ),
    "looped": (
        "attend",
        "return torch.stack([weights[:, h] @ v[:, h] for h in range(v.size(1))], 1)",
        "python-loop-over-heads",
    ),
    "changed_layer": ("project", "q_proj.weight /= 2\nreturn x", "mutates-parameters"),
    "returned_extra": ("attend", "return weights @ v, weights", "returns-extra"),
    "other_dtype": ("attend", "return (weights @ v).double()", "dtype-changed"),
    "left_device": (
        "causal_mask",
        "return torch.full((T, T), -math.inf, dtype=dtype).triu(1)",
        "mask-wrong-device",
    ),
    "lost_gradient": ("attend", "return weights.detach() @ v", "gradient-lost"),
    "one_size": (
        "split_heads",
        "return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)[:, :, : int('7')]",
        "hard-coded-size",
    ),
    "other_form": (
        "project",
        "return torch.cat([q_proj(x), k_proj(x), v_proj(x)], -1)",
        "wrong-return-shape",
    ),
}


@pytest.mark.parametrize(("step", "source", "slug"), SEEN.values(), ids=SEEN)
def test_it_is_named(step, source, slug):
    assert mistake(step, source, hidden=True).misconception == slug


@pytest.mark.parametrize("fact", SEEN)
def test_it_is_this_fact_that_tells(fact):
    step, source, slug = SEEN[fact]
    told = getattr(facts, fact)(evidence(step, source, hidden=True))
    assert slug in ((told,) if isinstance(told, str) else told)


@pytest.mark.parametrize("fact", SEEN)
def test_nothing_is_told_of_a_slip_in_a_sum(fact):
    for step, source in (
        ("attend", "return weights @ v + 0.5"),
        ("causal_mask", "return torch.full((T, T), -math.inf).to(device, dtype).triu(2)"),
        ("project", "return q_proj(x) + 0.5, k_proj(x), v_proj(x)"),
    ):
        assert getattr(facts, fact)(evidence(step, source, hidden=True)) is None


@pytest.mark.parametrize(
    ("failure", "is_stub"),
    [
        (Failure("NotWrittenYet", ""), True),
        (Failure("NotImplementedError", "", "raise NotImplementedError"), True),
        (Failure("NotImplementedError", "", "raise NotImplementedError('later')"), True),
        (Failure("NotImplementedError", "no such kernel", "return weights @ v"), False),
        (Failure("NotImplementedError", "no such kernel", ""), False),
        (Failure("ValueError", "", "raise ValueError"), False),
        (None, False),
    ],
)
def test_only_a_stub_is_not_written_yet(failure, is_stub):
    assert (
        facts.is_unwritten(Symptom("shape", "error", Probe("attend", "", ()), 0, failure))
        is is_stub
    )


def test_calls_that_agree_do_not_differ():
    assert facts.differ_from_themselves(evidence("attend", "return F.dropout(weights, 0.3) @ v"))
    assert not facts.differ_from_themselves(evidence("attend", "return weights @ v + 1"))
