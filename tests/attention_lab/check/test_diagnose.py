import pytest
import torch
from tests.attention_lab.check.learner import mistake

from attention_lab import NotWrittenYet, check
from attention_lab.check import diagnose, words

ATTEND = """s = q @ k.mT / self.d_head**0.5
if causal:
    s = s + torch.full_like(s, -math.inf).triu(1)
return self.out_proj((s.softmax(-1) @ v).transpose(1, 2).flatten(2))"""


def test_a_mistake_that_fits_gives_its_name_and_its_words():
    found = mistake("attention_scores", "return q @ k.mT")
    assert found.misconception == "missing-scale"
    assert "not divided by sqrt(d_head)" in found.means


def test_where_two_fit_both_are_told():
    source = "q, k, v = map(self.heads, (q, k, k))\n"
    found = mistake("MultiHeadAttention", source + ATTEND)
    assert found.misconception == "values-not-used"
    assert found.means.startswith(f"{words.EITHER} (1) The weights mix the keys")
    assert "(2) Two of queries, keys and values are the same" in found.means


def test_dividing_by_d_head_has_one_meaning():
    found = mistake("attention_scores", "return q @ k.mT / q.size(-1)")
    assert words.EITHER not in found.means


def test_two_mistakes_made_together_are_both_told():
    found = mistake(
        "MultiHeadAttention",
        "q, k, v = map(self.heads, (q, k, v))\n"
        + ATTEND.replace("if causal", "if True").replace("self.out_proj", ""),
    )
    assert found.misconception == "mask-always-causal"
    assert "(1) The future is masked even" in found.means
    assert "(2) The merged heads come back without `out_proj`." in found.means


@pytest.mark.parametrize(
    ("step", "source", "first"),
    [
        ("attention_scores", "q /= q.size(-1)\nreturn q @ k.mT", "scale-without-sqrt"),
        (
            "attention_scores",
            "q /= math.sqrt(q.size(-1))\nreturn q @ k.transpose(1, 2)",
            "k-transposed-on-wrong-dims",
        ),
        (
            "masked_softmax",
            "if mask is not None:\n    scores += mask\nreturn scores.softmax(-2)",
            "softmax-wrong-dim",
        ),
    ],
)
def test_a_change_in_place_is_not_blamed_for_other_mistakes(step, source, first):
    found = mistake(step, source)
    assert found.misconception == first
    assert "(2) An argument was changed in place." in found.means


def test_a_loop_is_told_beside_wrong_numbers():
    source = "return torch.stack([weights[:, h].mT @ v[:, h] for h in range(v.size(1))], 1)"
    found = mistake("attend", source)
    assert found.misconception == "weights-transposed"
    assert "(2) The heads are processed one at a time" in found.means


def test_a_change_in_place_that_is_all_one_knows_is_no_reason():
    assert (
        words.NOT_WHY in mistake("attend", "v -= v.mean(2, keepdim=True)\nreturn weights @ v").means
    )
    assert words.NOT_WHY not in mistake("attend", "o = weights @ v\nv += 1\nreturn o").means


def test_where_none_fits_nothing_is_claimed():
    found = mistake("attention_scores", "return (q @ k.mT).sin()")
    assert found.misconception is None
    assert found.means == "it is none of the usual mistakes."


SCORES = "q, k, v = map(self.heads, (q, k, v))\ns = q @ k.mT / self.d_head**0.5\n"


@pytest.mark.parametrize(
    ("step", "source", "slug"),
    [
        ("project", "return q_proj(x), k_proj(x), v_proj(x) + 1e-4", None),
        ("project", "return q_proj(x), k_proj(x), v_proj(x.round(decimals=3))", None),
        ("attend", "return weights @ v + 1e-3 * v", None),
        (
            "MultiHeadAttention",
            "self.wq = self.q_proj; del self.q_proj; return self.wq(x)",
            "interface-changed",
        ),
    ],
)
def test_a_name_is_given_only_where_it_fits(step, source, slug):
    assert mistake(step, source).misconception == slug


@pytest.mark.parametrize(
    ("step", "source", "slug"),
    [
        ("split_heads", "return x.unflatten(-1, (num_heads, -1)).transpose(1, 2).cpu()", None),
        ("attend", "y = torch.empty(v.shape, dtype=v.dtype); y[:] = weights @ v; return y", None),
        (
            "causal_mask",
            "return torch.full((T, T), -math.inf, device=device, dtype=dtype).triu(1).to('cpu')",
            "mask-wrong-device",
        ),
        (
            "MultiHeadAttention",
            f"{SCORES}s = s + torch.full_like(s, -math.inf).triu(1) if causal else s\n"
            "return self.out_proj((s.softmax(-1) @ v).transpose(1, 2).flatten(2)).cpu()",
            None,
        ),
    ],
)
def test_a_result_that_leaves_its_device_is_told(step, source, slug):
    found = mistake(step, source, hidden=True)
    assert (found.aspect, found.misconception) == ("manner", slug)
    assert "the result is on cpu" in found.seen


def broken(*args):
    raise RuntimeError("a signature that was not made for this")


@pytest.mark.parametrize("part", ["recognise", "card"])
def test_whatever_happens_while_explaining_there_is_a_mistake(part, monkeypatch):
    monkeypatch.setattr(diagnose, part, broken)
    monkeypatch.setattr(diagnose, "UNFORESEEN", (Exception,))
    found = mistake("attention_scores", "return q @ k.mT")
    assert found.misconception is None
    assert found.seen == "with B=3, H=5, T=7, d_head=6, other numbers."


def test_a_stub_is_only_told_to_be_one():
    def attend(weights, v):
        raise NotWrittenYet

    with pytest.raises(check.Mistake, match="not written yet"):
        check.attend(attend)


def test_numbers_in_a_variable_of_the_notebook_are_named(monkeypatch):
    monkeypatch.setitem(globals(), "B", 3)

    def merge_heads(x):
        return x.transpose(1, 2).reshape(B, x.size(2), -1)  # noqa: F821

    with pytest.raises(check.Mistake) as caught:
        check.merge_heads(merge_heads)
    assert caught.value.misconception == "uses-notebook-globals"


def test_no_expected_number_is_told():
    message = str(mistake("attend", "return torch.zeros_like(v)"))
    assert "tensor(" not in message
    assert torch.is_tensor(message) is False
