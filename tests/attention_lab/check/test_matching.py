import pytest
from tests.attention_lab.check.learner import evidence

from attention_lab.check import words
from attention_lab.check.matching import _fails_alike, matching, pairs, together
from attention_lab.check.mistake import Mistake
from attention_lab.observation import Failure

ATTEND = """s = q @ k.mT / self.d_head**0.5
if causal:
    s = s + torch.full_like(s, -math.inf).triu(1)
return self.out_proj((s.softmax(-1) @ v).transpose(1, 2).flatten(2))"""


def slugs(step, source, hidden=False):
    """Of each reading the slugs of its mistakes, with a + between them."""
    found = evidence(step, source, hidden)
    readings = matching(found) or together(found)
    return ["+".join(known.slug for known in reading) for reading in readings]


def test_what_does_the_same_everywhere_is_found():
    assert slugs("attention_scores", "return q @ k.mT") == ["missing-scale"]


def test_what_is_right_matches_nothing():
    assert slugs("attention_scores", "return q @ k.mT / q.size(-1) ** 0.5") == []


def test_what_nobody_has_thought_of_matches_nothing():
    assert slugs("attention_scores", "return (q @ k.mT).sin()") == []


def test_two_that_do_the_same_are_both_found():
    source = "q, k, v = map(self.heads, (q, k, k))\n" + ATTEND
    assert slugs("MultiHeadAttention", source) == ["values-not-used", "shared-projection"]


def test_two_made_together_are_found_in_different_parts():
    source = "return q @ k.reshape(*k.shape[:2], k.size(3), -1)"
    assert slugs("attention_scores", source) == ["missing-scale+k-reshaped-not-transposed"]
    source = "q, k, v = map(self.heads, (q, k, v))\n" + ATTEND.replace("self.out_proj", "")
    source = source.replace("if causal", "if True")
    assert slugs("MultiHeadAttention", source) == ["mask-always-causal+missing-out-proj"]


def test_a_second_mistake_on_rare_input_hides_nothing():
    source = "return (q @ k.mT).float()"
    assert slugs("attention_scores", source, hidden=True) == ["missing-scale"]


def test_an_answer_that_only_raises_matches_nothing():
    assert slugs("attention_scores", "return q @ k.missing") == []


@pytest.mark.parametrize(
    ("failure", "same"),
    [
        (None, False),
        (Failure("RuntimeError", "shapes cannot be multiplied"), True),
        (Failure("KeyError", "3"), False),
    ],
)
def test_failing_is_the_same_only_of_one_type(failure, same):
    assert _fails_alike(RuntimeError("sizes do not match"), failure) is same


NAN = "s = scores if mask is None else scores + mask\ne = {}.exp()\nreturn e / e.sum(-1, True)"


SIGN = "return (scores if mask is None else scores - mask).softmax(-1)"


def test_nan_that_a_mean_may_have_made_is_no_match():
    assert slugs("masked_softmax", NAN.format("(s - s.mean(-1, keepdim=True))")) == []
    assert slugs("masked_softmax", SIGN)[0] == "mask-sign"


def test_masks_match_by_their_effect():
    source = "return torch.full((T, T), -7e8, dtype=dtype).tril(-1)"
    assert slugs("causal_mask", source) == ["mask-inverted"]


@pytest.mark.parametrize("step", ["attention_scores", "MultiHeadAttention"])
def test_two_at_once_leave_a_line_for_what_was_seen(step):
    for reading, _ in pairs(step):
        means, look = words.told([reading], evidence=None)
        told = str(Mistake(step, "value", "long " * 100, means, look)).splitlines()
        assert len(told) <= 6, [known.slug for known in reading]
