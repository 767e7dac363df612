import re

import pytest
from tests.attention_lab.check.learner import evidence

from attention_lab.check.card import card as card_of


def card(step, source):
    found = evidence(step, source)
    return card_of(found, found.verdict.against(None)[0])


def test_two_shapes_side_by_side_with_a_sign_where_they_differ():
    shown = card("split_heads", "return x.view(*x.shape[:2], num_heads, -1)")
    came, wanted = re.findall(r"<figure.*?</figure>", shown)
    assert re.findall(r">(\d+[^<]*)</td>", came) == [
        "3",
        "7 \N{NOT EQUAL TO}",
        "5 \N{NOT EQUAL TO}",
        "6",
    ]
    assert re.findall(r">(\d+[^<]*)</td>", wanted) == ["3 batch", "5 head", "7 token", "6 feature"]


def test_one_number_is_no_shape():
    assert "one number" in card("merge_heads", "return x.sum()")


def test_where_the_numbers_of_a_head_come_from():
    shown = card("split_heads", "return x.reshape(x.size(0), num_heads, x.size(1), -1)")
    assert "your head 0" in shown
    assert ">t0 f0<" in shown
    assert ">t1 f0<" in shown
    assert "row i should hold token i only" in shown


def test_a_map_of_weights_and_its_holes():
    shown = card("masked_softmax", "w = scores.softmax(-2); w[..., 0] = torch.nan; return w")
    assert shown.count("your head") == 5
    assert 'aria-label="NaN"' in shown
    assert ">sum" not in shown


def test_sums_are_told_where_they_tell():
    columns = card("masked_softmax", "return scores.softmax(-2)")
    assert "columns sum to 1, rows do not" in columns
    halves = card("masked_softmax", "return scores.softmax(-1) / 2")
    assert ">sum 0.5<" in halves
    assert "columns" not in halves
    assert ">sum" not in card("masked_softmax", "return (2 * scores).softmax(-1)")


def test_the_spread_of_scores_is_told():
    shown = card("attention_scores", "return q @ k.mT")
    told = re.search(
        r"deviation of your scores is (\S+)\.<.*sqrt\(d_head\) it would be (\S+)\.<", shown
    )
    assert float(told[1]) / float(told[2]) == pytest.approx(6**0.5, rel=0.05)
    assert "<table" not in shown


def test_scores_that_lack_more_than_their_scale_have_no_card():
    assert card("attention_scores", "return k @ q.mT") == ""


def test_one_tensor_for_three_has_no_axes_to_compare():
    assert card("project", "return q_proj(x)") == ""


def test_what_is_left_out_is_told():
    assert card("merge_heads", "return x.reshape(x.size(0), x.size(2), -1)").count("\u2026") == 7


def test_what_a_mask_should_let_through_is_told():
    assert "open up to key i" in card("causal_mask", "return torch.zeros(T, T)")


def test_a_learners_numbers_are_shown_and_the_right_ones_are_not():
    shown = card("masked_softmax", "return torch.full_like(scores, 7)")
    assert set(re.findall(r'title="([^"]*)"', shown)) == {"7"}


def test_nothing_is_shown_where_nothing_came_back():
    assert card("attend", "raise ValueError") == ""
    assert card("attend", "return None") == ""
    assert card("attend", "return weights @ v.detach()") == ""
