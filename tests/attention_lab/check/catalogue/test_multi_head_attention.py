"""A learner's classes, right but for one line, named by what the visible trials show."""

import pytest
from tests.attention_lab.check.learner import LINES, mistake, of_class

SWAPPED = "q, v, k = map(self.heads, (q, k, v))"
ANSWERS = {
    "missing-scale": {"scores": "s = q @ k.mT"},
    "scale-by-d-model": {"scores": "s = q @ k.mT / D**0.5"},
    "mask-ignored": {"mask": ""},
    "mask-always-causal": {"mask": LINES["mask"].replace("& causal", "")},
    "mask-of-batch-size": {
        "mask": "if causal:\n    s = s + torch.full((B, B), -math.inf).triu(1)",
    },
    "mask-broadcast-batch-heads": {
        "mask": "if causal:\n    s = s + torch.full((B, T, T), -math.inf).triu(1)",
    },
    "values-not-used": {"mix": "m = s.softmax(-1) @ k"},
    "merge-without-transpose": {"merge": "m = m.reshape(B, T, D)"},
    "softmax-missing": {"mix": "m = s @ v"},
    "wrong-return-order": {"heads": SWAPPED},
    "missing-out-proj": {"out": "return m"},
    "residual-added": {"out": "return self.out_proj(m) + x"},
    "returns-extra": {"out": "return self.out_proj(m), s"},
    "returns-weights": {"out": "return s.softmax(-1)"},
    "wrong-default": {"mask": LINES["mask"].replace("& causal", "& (not causal)")},
    "split-by-d-head": {
        "heads": "q, k, v = (t.view(B, T, self.d_head, -1).transpose(1, 2) for t in (q, k, v))",
        "scores": "s = q @ k.mT / q.size(-1) ** 0.5",
    },
    "single-head-only": {
        "heads": "q, k, v = q[:, None], k[:, None], v[:, None]",
        "scores": "s = q @ k.mT / D**0.5",
    },
}


def test_the_lines_are_right():
    with pytest.raises(pytest.fail.Exception):
        mistake("MultiHeadAttention", of_class())


@pytest.mark.parametrize("slug", ANSWERS)
def test_it_is_named(slug):
    body = of_class(**ANSWERS[slug])
    assert mistake("MultiHeadAttention", body).misconception == slug


@pytest.mark.parametrize(
    "weights",
    [
        "w = s + torch.full((T, T), -math.inf).triu(1) if causal else s",
        "w = s.masked_fill(torch.ones(T, T).triu(1).bool() & causal, -1e9)",
        "w = s.tril() if causal else s",
        "w = s",
    ],
)
def test_a_missing_softmax_is_named_however_scores_are_masked(weights):
    body = of_class(mask=weights, mix="m = w @ v")
    assert mistake("MultiHeadAttention", body).misconception == "softmax-missing"


def test_changed_places_are_looked_for_in_the_forward_pass():
    found = mistake("MultiHeadAttention", of_class(heads=SWAPPED))
    assert "`return`" not in found.look
    assert "which one is mixed" in found.look
