"""A learner's answers to `split_heads`, named by what the visible trials show."""

import pytest
from tests.attention_lab.check.learner import mistake

ANSWERS = {
    "view-instead-of-transpose": "return x.reshape(x.size(0), num_heads, x.size(1), -1)",
    "missing-head-transpose": "return x.unflatten(2, (num_heads, -1))",
    "head-interleaving": "return x.unflatten(2, (-1, num_heads)).movedim(3, 1)",
    "head-order-reversed": "return torch.stack(x.chunk(num_heads, -1)[::-1], 1)",
    "splits-time-not-features": "return torch.stack(x.chunk(num_heads, 1), 1)",
    "every-head-same-slice": "first = x[..., : x.size(2) // num_heads]\n"
    "return torch.stack([first] * num_heads, 1)",
    "shape-only-stub": "return x",
}


@pytest.mark.parametrize("slug", ANSWERS)
def test_it_is_named(slug):
    assert mistake("split_heads", ANSWERS[slug]).misconception == slug
