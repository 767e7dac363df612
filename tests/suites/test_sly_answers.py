"""Wrong answers of kinds that the bank lacks get a fitting name or none, and an explanation."""

import pytest
from tests.attention_lab.check.learner import mistake, of_class

from attention_lab.check import diagnose

SPLIT = "x.reshape(*x.shape[:2], num_heads, -1).transpose(1, 2)"
SCORED = "s = scores if mask is None else scores + mask\n"
ANSWERS = [
    ("project", "return q_proj(x), k_proj(x), v_proj(x.flip(1))", None),
    ("project", "return q_proj(x / x.size(-1)), k_proj(x), v_proj(x)", "scale-in-wrong-step"),
    ("project", "return q_proj(F.dropout(x, 0.1)), k_proj(x), v_proj(x)", "dropout-always-on"),
    ("project", "x.relu_()\nreturn q_proj(x), k_proj(x), v_proj(x)", "extra-nonlinearity"),
    ("project", "print('hello')", None),
    (
        "split_heads",
        "return x.reshape(*x.shape[:2], -1, num_heads).transpose(1, 2)",
        "split-by-d-head",
    ),
    ("split_heads", f"return {SPLIT}.flip(2)", None),
    ("split_heads", f"return {SPLIT}.roll(1, 1)", None),
    ("attention_scores", "return q @ k.mT / (math.sqrt(q.size(-1)) * 1.01)", None),
    ("attention_scores", "return q @ k.mT / math.sqrt(q.size(-1) - 1)", None),
    ("attention_scores", "return (q @ k.mT / math.sqrt(q.size(-1))).clamp(-5, 5)", None),
    ("attention_scores", "return -(q @ k.mT) / math.sqrt(q.size(-1))", "scores-negated"),
    ("attention_scores", "return q @ q.mT / math.sqrt(q.size(-1))", "compared-with-itself"),
    ("attention_scores", "return -torch.cdist(q, k)", "missing-scale"),
    (
        "attention_scores",
        "return torch.einsum('bhqd,bhke->bhqk', q, k) / math.sqrt(q.size(-1))",
        "sums-apart",
    ),
    ("attention_scores", "return q @ k.T", "missing-scale"),
    ("causal_mask", "return torch.full((T, T), -math.inf).tril(1)", "mask-inverted"),
    ("causal_mask", "return torch.full((T, T), -math.inf)", "mask-closes-all"),
    ("causal_mask", "return torch.full((1, T), -math.inf).triu(1)", "wrong-return-shape"),
    (
        "causal_mask",
        "past = torch.full((T, T), -math.inf).tril(-3)\n"
        "return past + torch.full((T, T), -math.inf).triu(1)",
        "mask-window",
    ),
    ("causal_mask", "return torch.full((T, T), -math.inf).triu(1).flip(1)", None),
    ("masked_softmax", f"{SCORED}return s.softmax(-1) * 0.999", None),
    ("masked_softmax", f"{SCORED}return (s / 1.01).softmax(-1)", None),
    ("masked_softmax", f"{SCORED}return (s * 2).softmax(-1)", None),
    ("masked_softmax", f"{SCORED}return (s / 8).softmax(-1)", "double-scale"),
    ("masked_softmax", f"{SCORED}return s.exp()", "not-normalised"),
    ("masked_softmax", f"{SCORED}p = 2**s\nreturn p / p.sum(-1, keepdim=True)", "other-base"),
    (
        "masked_softmax",
        "return (scores if mask is None else scores + mask.T).softmax(-1)",
        "mask-transposed",
    ),
    ("masked_softmax", f"{SCORED}return s.softmax(-1).round(decimals=3)", None),
    ("masked_softmax", "return scores.softmax(-2)", "mask-ignored"),
    ("attend", "return weights @ v + v", "residual-added"),
    ("attend", "return weights.tril() @ v", None),
    ("attend", "return weights @ v / math.sqrt(v.size(-1))", "double-scale"),
    ("attend", "return torch.einsum('bhqk,bhkd->bhkd', weights, v)", "sums-over-queries"),
    ("merge_heads", "return torch.cat(x.unbind(1), 1)", "heads-one-after-another"),
    ("merge_heads", "return x.transpose(1, 2).flatten(2).flip(-1)", None),
    ("merge_heads", "return x.transpose(1, 2).flatten(2) + 1e-3", None),
    (
        "MultiHeadAttention",
        of_class(
            heads="q, k, v = (t.view(B, T, self.d_head, -1).transpose(1, 2) for t in (q, k, v))"
        ),
        "split-by-d-head",
    ),
    ("MultiHeadAttention", of_class(out="return self.v_proj(m)"), "another-layer-out"),
    ("MultiHeadAttention", of_class(scores="s = q @ k.mT", out="return m"), "missing-out-proj"),
    (
        "MultiHeadAttention",
        of_class(scores="s = q @ k.mT / self.d_head", merge="m = m.reshape(B, T, D)"),
        "scale-without-sqrt",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("step", "source", "slug"), ANSWERS)
def test_no_name_is_better_than_a_wrong_one(step, source, slug, monkeypatch):
    monkeypatch.setattr(diagnose, "KINDS", {})  # where explaining fails, fail
    found = mistake(step, source)
    assert found.misconception == slug
    assert len(str(found).splitlines()) <= 6


@pytest.mark.parametrize(
    ("step", "source"),
    [
        ("split_heads", "y = x.unflatten(2, (num_heads, -1)).movedim(2, 1)\nreturn y.cumsum(0)"),
        ("merge_heads", "return x.transpose(1, 2).flatten(2).cumsum(0)"),
    ],
)
def test_what_is_right_for_one_sentence_only_mixes_them(step, source):
    assert mistake(step, source, hidden=True).misconception == "batch-mixed"
