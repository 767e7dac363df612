from tests.attention_lab.check.learner import evidence

from attention_lab.check.matching import matching


def slugs(step, source, hidden=False):
    return [known.slug for known in matching(evidence(step, source, hidden))]


def test_what_does_the_same_everywhere_is_found():
    assert slugs("attention_scores", "return q @ k.mT") == ["missing-scale"]


def test_what_is_right_matches_nothing():
    assert slugs("attention_scores", "return q @ k.mT / q.size(-1) ** 0.5") == []


def test_what_nobody_has_thought_of_matches_nothing():
    assert slugs("attention_scores", "return (q @ k.mT).sin()") == []


def test_two_that_do_the_same_are_both_found():
    source = "return q @ k.mT / q.size(-1)"
    assert slugs("attention_scores", source) == ["scale-without-sqrt", "double-scale"]


def test_a_second_mistake_on_rare_input_hides_nothing():
    source = "return (q @ k.mT).float()"
    assert slugs("attention_scores", source, hidden=True) == ["missing-scale"]


def test_an_answer_that_only_raises_matches_nothing():
    assert slugs("attention_scores", "return q @ k.missing") == []


def test_masks_match_by_their_effect():
    source = "return torch.full((T, T), -7e8, dtype=dtype).tril(-1)"
    assert slugs("causal_mask", source) == ["mask-inverted"]
