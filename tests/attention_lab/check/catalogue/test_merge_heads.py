"""A learner's answers to `merge_heads`, named by what the visible trials show."""

import pytest
from tests.attention_lab.check.learner import mistake

ANSWERS = {
    "merge-without-transpose": "return x.reshape(x.size(0), x.size(2), -1)",
    "missing-contiguous": "x = x.transpose(1, 2)\nx.contiguous()\nreturn x.view(*x.shape[:2], -1)",
    "head-interleaving": "return x.permute(0, 2, 3, 1).flatten(2)",
    "head-order-reversed": "return torch.cat(x.unbind(1)[::-1], -1)",
    "heads-averaged": "return x.mean(1)",
    "heads-summed": "return sum(x.unbind(1))",
    "batch-first-confusion": "return x.permute(2, 0, 1, 3).flatten(2)",
}


@pytest.mark.parametrize("slug", ANSWERS)
def test_it_is_named(slug):
    assert mistake("merge_heads", ANSWERS[slug]).misconception == slug
