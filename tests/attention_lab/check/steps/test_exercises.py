import math

import pytest
import torch
from torch import nn

from attention_lab import NotWrittenYet, check
from attention_lab.check import Mistake, steps


def cross_attention(x, memory, q_proj, k_proj, v_proj, out_proj, num_heads):
    q = steps.split_heads(q_proj(x), num_heads)
    k, v = (steps.split_heads(layer(memory), num_heads) for layer in (k_proj, v_proj))
    weights = steps.masked_softmax(steps.attention_scores(q, k))
    return out_proj(steps.merge_heads(steps.attend(weights, v)))


def padded_softmax(scores, lengths):
    keys = torch.arange(scores.shape[-1])
    mask = torch.where(keys < lengths[:, None], 0.0, -math.inf)[:, None, None]
    return (scores + mask.to(scores.dtype)).softmax(-1)


def grouped_attention(q, k, v):
    B, H, T, d = q.shape
    G = k.shape[1]
    q = q.reshape(B, G, H // G, T, d)
    weights = (q @ k[:, :, None].mT / math.sqrt(d)).softmax(-1)
    return (weights @ v[:, :, None]).reshape(B, H, T, d)


def attend_next(q, k, v, past_k, past_v):
    keys, values = torch.cat([past_k, k], 2), torch.cat([past_v, v], 2)
    return (q @ keys.mT / math.sqrt(q.shape[-1])).softmax(-1) @ values, keys, values


RIGHT = (cross_attention, padded_softmax, grouped_attention, attend_next)


def itself(x, memory, *rest):
    return cross_attention(x, x, *rest)


def too_few_heads(x, memory, *layers_and_heads):
    return cross_attention(x, memory, *layers_and_heads[:-1], 1)


def without_padding(scores, lengths):
    return scores.softmax(-1)


def one_too_many(scores, lengths):
    return padded_softmax(scores, (lengths + 1).clamp(max=scores.shape[-1]))


def zeros_after(scores, lengths):
    return scores.softmax(-1) * (padded_softmax(scores, lengths) > 0)


def groups_dealt_like_cards(q, k, v):
    times = q.shape[1] // k.shape[1]
    return steps.attend(
        steps.attention_scores(q, k.repeat(1, times, 1, 1)).softmax(-1), v.repeat(1, times, 1, 1)
    )


def newest_first(q, k, v, past_k, past_v):
    mixed, _, _ = attend_next(q, k, v, past_k, past_v)
    return mixed, torch.cat([k, past_k], 2), torch.cat([v, past_v], 2)


def without_itself(q, k, v, past_k, past_v):
    _, keys, values = attend_next(q, k, v, past_k, past_v)
    return steps.attend(steps.attention_scores(q, past_k).softmax(-1), past_v), keys, values


def cache_kept_back(q, k, v, past_k, past_v):
    return attend_next(q, k, v, past_k, past_v)[0]


def rows_closed(scores, lengths):
    closed = torch.arange(scores.shape[-2])[:, None] >= lengths[:, None, None, None]
    return scores.masked_fill(closed, -math.inf).softmax(-1)


WRONG = (
    ("cross_attention", itself, "memory-ignored"),
    ("cross_attention", too_few_heads, "single-head-only"),
    ("padded_softmax", without_padding, "mask-ignored"),
    ("padded_softmax", one_too_many, "mask-off-by-one"),
    ("padded_softmax", zeros_after, "mask-after-softmax"),
    ("padded_softmax", rows_closed, None),
    ("grouped_attention", groups_dealt_like_cards, "groups-dealt-like-cards"),
    ("attend_next", newest_first, "newest-first"),
    ("attend_next", without_itself, "newest-left-out"),
    ("attend_next", cache_kept_back, None),
)


@pytest.mark.parametrize("answer", RIGHT, ids=lambda answer: answer.__name__)
def test_a_right_answer_is_accepted(answer, capsys):
    getattr(check, answer.__name__)(answer)
    assert capsys.readouterr().out.startswith(f"✓ {answer.__name__}: right in ")


@pytest.mark.parametrize(
    ("name", "answer", "slug"), WRONG, ids=lambda value: getattr(value, "__name__", "")
)
def test_a_wrong_answer_is_told_and_named(name, answer, slug):
    with pytest.raises(Mistake) as mistake:
        getattr(check, name)(answer)
    assert (mistake.value.step, mistake.value.misconception) == (name, slug)


@pytest.mark.parametrize("answer", RIGHT, ids=lambda answer: answer.__name__)
def test_an_answer_without_gradient_is_told(answer):
    with pytest.raises(Mistake) as mistake:
        getattr(check, answer.__name__)(torch.no_grad()(answer))
    assert mistake.value.misconception == "gradient-lost"


@pytest.mark.parametrize("answer", RIGHT, ids=lambda answer: answer.__name__)
def test_an_answer_that_raises_is_told(answer):
    def fails(*args):
        raise RuntimeError("not today")

    with pytest.raises(Mistake, match=r"not\s+today"):
        getattr(check, answer.__name__)(fails)


@pytest.mark.parametrize("answer", RIGHT, ids=lambda answer: answer.__name__)
def test_an_answer_that_is_not_written_yet_says_so(answer):
    def stub(*args):
        raise NotWrittenYet

    with pytest.raises(Mistake, match="not written yet"):
        getattr(check, answer.__name__)(stub)


def test_a_wrong_shape_is_shown_beside_the_right_one():
    with pytest.raises(Mistake, match=r"\(2,\s7,\s20\);\s+wanted:\s+\(2,\s3,\s20\)"):
        check.cross_attention(lambda x, memory, *rest: memory)


def test_the_judges_cross_attention_is_pytorchs():
    torch.manual_seed(0)
    module = nn.MultiheadAttention(12, 3, batch_first=True).double()
    nn.init.normal_(module.in_proj_bias)
    layers = [nn.Linear(12, 12).double() for _ in range(3)]
    for layer, rows in zip(layers, (slice(0, 12), slice(12, 24), slice(24, 36)), strict=True):
        layer.load_state_dict(
            {"weight": module.in_proj_weight[rows], "bias": module.in_proj_bias[rows]}
        )
    x, memory = torch.randn(2, 4, 12).double(), torch.randn(2, 7, 12).double()
    ours = steps.of("cross_attention").right(x, memory, *layers, module.out_proj, 3)
    theirs, _ = module(x, memory, memory)
    torch.testing.assert_close(ours, theirs)


def test_the_judges_padding_is_pytorchs():
    torch.manual_seed(0)
    module = nn.MultiheadAttention(6, 1, batch_first=True).double()
    x, lengths = torch.randn(2, 5, 6).double(), torch.tensor([2, 5])
    padding = torch.arange(5) >= lengths[:, None]
    _, theirs = module(x, x, x, key_padding_mask=padding)
    q, k, _ = nn.functional.linear(x, module.in_proj_weight, module.in_proj_bias).chunk(3, -1)
    scores = steps.attention_scores(q[:, None], k[:, None])
    ours = steps.of("padded_softmax").right(scores, lengths)
    torch.testing.assert_close(ours[:, 0], theirs)


def test_the_judges_cache_gives_the_full_pass():
    torch.manual_seed(0)
    q, k, v = torch.randn(3, 2, 3, 5, 4).unbind(0)
    full = steps.attend(steps.masked_softmax(steps.attention_scores(q, k), steps.causal_mask(5)), v)
    keys, values, rows = k[:, :, :0], v[:, :, :0], []
    for t in range(5):
        newest = (part[:, :, t : t + 1] for part in (q, k, v))
        row, keys, values = steps.of("attend_next").right(*newest, keys, values)
        rows.append(row)
    torch.testing.assert_close(torch.cat(rows, 2), full)
