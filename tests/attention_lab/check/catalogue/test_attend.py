"""A learner's answers to `attend`, named by what the visible trials show."""

import pytest
from tests.attention_lab.check.learner import mistake

ANSWERS = {
    "weights-transposed": "return weights.mT @ v",
    "values-transposed": "return weights @ v.transpose(2, 3)",
    "softmax-twice": "return weights.softmax(-1) @ v",
    "ignores-weights": "return v.mean(2, keepdim=True).expand_as(v)",
    "heads-mixed": "return torch.einsum('bhqk,bgkd->bhqd', weights, v)",
    "operands-swapped": "return v @ weights",
    "elementwise-product": "return weights * v",
}


@pytest.mark.parametrize("slug", ANSWERS)
def test_it_is_named(slug):
    assert mistake("attend", ANSWERS[slug]).misconception == slug
