"""A learner's answers to `masked_softmax`, named by what the visible trials show."""

import pytest
from tests.attention_lab.check.learner import mistake

GIVEN = """if mask is not None:
    scores = scores.masked_fill({})
return scores.softmax(-1)"""
ANSWERS = {
    "mask-ignored": "if mask is not None:\n    scores + mask\nreturn scores.softmax(-1)",
    "mask-after-softmax": "w = scores.softmax(-1)\nreturn w if mask is None else w * (mask == 0)",
    "softmax-wrong-dim": "return (scores if mask is None else scores + mask).softmax(2)",
    "mask-fills-zero": GIVEN.format("mask < 0, 0"),
    "mask-inverted": GIVEN.format("mask == 0, -math.inf"),
    "mask-multiplied": "return (scores if mask is None else scores * mask).softmax(-1)",
    "mask-sign": "return (scores if mask is None else scores - mask).softmax(-1)",
    "hard-attention": "s = scores if mask is None else scores + mask\n"
    "return (s == s.amax(-1, keepdim=True)) * 1.0",
    "sigmoid-instead-of-softmax": "return (scores if mask is None else scores + mask).sigmoid()",
}


@pytest.mark.parametrize("slug", ANSWERS)
def test_it_is_named(slug):
    assert mistake("masked_softmax", ANSWERS[slug]).misconception == slug
