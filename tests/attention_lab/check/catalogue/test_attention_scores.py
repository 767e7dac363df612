"""A learner's answers to `attention_scores`, named by what the visible trials show."""

import pytest
from tests.attention_lab.check.learner import mistake

ANSWERS = {
    "missing-scale": "return torch.matmul(q, k.mT)",
    "scale-without-sqrt": "return q @ k.mT / k.size(3)",
    "scale-multiplied": "return q @ k.mT / k.size(3) ** -0.5",
    "scale-by-num-heads": "return q @ k.mT / q.shape[1] ** 0.5",
    "scale-by-seq-len": "return q @ k.mT / q.shape[2] ** 0.5",
    "operator-precedence": "return q @ k.mT / q.shape[-1] ** 1 / 2",
    "query-key-swapped": "return k @ q.mT / q.shape[-1] ** 0.5",
    "heads-mixed": "return torch.einsum('bhqd,bgkd->bhqk', q, k) / q.size(3) ** 0.5",
    "does-next-step-too": "return (q @ k.mT / q.size(3) ** 0.5).softmax(-1)",
}


@pytest.mark.parametrize("slug", ANSWERS)
def test_it_is_named(slug):
    assert mistake("attention_scores", ANSWERS[slug]).misconception == slug
