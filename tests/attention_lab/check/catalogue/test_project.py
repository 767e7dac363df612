"""A learner's answers to `project`, named by what the visible trials show."""

import pytest
from tests.attention_lab.check.learner import mistake

ANSWERS = {
    "shared-projection": "k = k_proj(x)\nreturn q_proj(x), k, k",
    "wrong-return-order": "return k_proj(x), q_proj(x), v_proj(x)",
    "weight-not-transposed": "return x @ q_proj.weight + q_proj.bias, k_proj(x), v_proj(x)",
    "bias-forgotten": "return F.linear(x, q_proj.weight), k_proj(x), v_proj(x)",
    "chained-projection": "x = q_proj(x)\nreturn x, k_proj(x), v_proj(x)",
    "extra-nonlinearity": "return q_proj(x).tanh(), k_proj(x), v_proj(x)",
    "ignores-given-layers": "return x, x, x",
}


@pytest.mark.parametrize("slug", ANSWERS)
def test_it_is_named(slug):
    assert mistake("project", ANSWERS[slug]).misconception == slug
