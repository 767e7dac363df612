"""A learner's answers to `causal_mask`, named by what the visible trials show."""

import pytest
from tests.attention_lab.check.learner import mistake

ANSWERS = {
    "mask-inverted": "return torch.full((T, T), -math.inf).tril(-1)",
    "mask-diagonal-zero": "return torch.full((T, T), -math.inf).triu()",
    "mask-off-by-one": "return torch.full((T, T), -math.inf).triu(2)",
    "mask-boolean-not-additive": "return torch.ones(T, T).triu(1).bool()",
    "mask-zero-times-inf": "return torch.ones(T, T).triu(1) * -math.inf",
    "mask-plus-inf": "return torch.full((T, T), math.inf).triu(1)",
    "mask-finite-value": "return torch.full((T, T), -9.0).triu(1)",
    "mask-extra-dims": "return torch.full((T, T), -math.inf).triu(1).view(1, 1, T, T)",
    "wrong-return-shape": "return torch.full((T - 1, T), -math.inf).triu(1)",
}


@pytest.mark.parametrize("slug", ANSWERS)
def test_it_is_named(slug):
    assert mistake("causal_mask", ANSWERS[slug]).misconception == slug
