"""A cause is named where setting it right makes the answer right, and not beside another one."""

import math
from textwrap import indent

import pytest
import torch
from tests.attention_lab.check.learner import CLASS, LINES, evidence, mistake, of_class, run_cell

from attention_lab import check
from attention_lab.check import causes

SPLIT = "x.unflatten(-1, (num_heads, -1)).transpose(1, 2)"
SOFTMAX = "s = scores if mask is None else scores + mask"
TRUTH = "return (scores + mask if mask else scores).softmax(-1)"
FLOAT = "return x.view(*x.shape[:2], num_heads, x.size(2) / num_heads).transpose(1, 2)"
MASK = "torch.full((T, T), -math.inf, device=x.device, dtype=x.dtype).triu(1)"
KEPT = f"self.kept = self.__dict__.get('kept', {MASK})\ns = s + self.kept if causal else s"
BMM = (
    "B, H, T, d = v.shape\n"
    "return torch.bmm(weights.view(-1, T, T), v.view(-1, T, d)).view(B, H, T, d)"
)
# Of each cause an answer that has it alone, and one in which something else is wrong as well.
PROVEN = {
    "truth_asked": ("masked_softmax", TRUTH, "ambiguous-truth-value", TRUTH.replace("-1", "-2")),
    "float_size": ("split_heads", FLOAT, "float-size", FLOAT + " + 1"),
    "only_in_order": ("attend", BMM, "contiguous-only", BMM + " + 1"),
    "refused_view": (
        "merge_heads",
        "return x.transpose(1, 2).view(x.size(0), x.size(2), -1)",
        "missing-contiguous",
        "return x.transpose(1, 2).view(x.size(0), x.size(2), -1) + 1",
    ),
    "dropped_axes": (
        "split_heads",
        f"return {SPLIT}.squeeze()",
        "squeeze-drops-dims",
        f"return {SPLIT}.squeeze() + 1",
    ),
    "casts": (
        "attend",
        "return (weights.half() @ v.half()).to(v)",
        "dtype-changed",
        "return (weights.half() @ v.half()).to(v) + 1",
    ),
    "on_the_cpu": (
        "MultiHeadAttention",
        of_class(mask=f"if causal:\n    s = s + {MASK}".replace("device=x.device, ", "")),
        "mask-wrong-device",
        of_class(
            mask=f"if causal:\n    s = s + {MASK}".replace("device=x.device, ", ""), out="return m"
        ),
    ),
    "overwritten": (
        "masked_softmax",
        f"{SOFTMAX}\ne = (s - s.amax(-1, keepdim=True)).exp()\n"
        "e /= e.sum(-1, keepdim=True)\nreturn e",
        "backward-broken-inplace",
        f"{SOFTMAX}\ne = s.softmax(-1)\ne *= 2\nreturn e",
    ),
    "without_gradients": (
        "attend",
        "return torch.from_numpy(weights.numpy() @ v.numpy())",
        "gradient-lost",
        "return torch.from_numpy(weights.numpy() @ v.numpy()) + 1",
    ),
    "rounds": (
        "attention_scores",
        "return (q @ k.mT / q.size(-1) ** 0.5).round(decimals=2)",
        "rounded-scores",
        "return (q @ k.mT / q.size(-1)).round(decimals=2)",
    ),
    "kept_in_instance": (
        "MultiHeadAttention",
        of_class(mask=KEPT),
        "stale-cache",
        of_class(mask=KEPT, out="return m"),
    ),
    "tied_layers": (
        "MultiHeadAttention",
        "self.q_proj.weight.data.mul_(2)\n" + of_class(),
        None,
        of_class(out="return m"),
    ),
    "one_sentence_at_a_time": (
        "merge_heads",
        "return x.transpose(1, 2).flatten(2).cumsum(0)",
        "batch-mixed",
        "return x.transpose(1, 2).flatten(2) / x.size(0)",
    ),
    "written_number": (
        "split_heads",
        "return x.view(*x.shape[:2], num_heads, 6).transpose(1, 2)",
        "hard-coded-size",
        "return x.view(*x.shape[:2], num_heads, 6).transpose(1, 2) + 1",
    ),
    "finite_number": (
        "MultiHeadAttention",
        of_class(mask=LINES["mask"].replace("-math.inf", "-9e5")),
        "mask-finite-value",
        of_class(mask=LINES["mask"].replace("-math.inf", "-9e5"), out="return m"),
    ),
    "unused_layers": (
        "project",
        "return x * 2, x * 3, x * 4",
        "ignores-given-layers",
        "return q_proj(x) * 2, k_proj(x) * 3, v_proj(x) * 4",
    ),
    "random": (
        "attend",
        "return F.dropout(weights, 0.3) @ v",
        "dropout-always-on",
        "return weights @ v + 1",
    ),
}


@pytest.mark.parametrize("cause", PROVEN)
def test_a_cause_is_proven_only_where_it_is_all(cause):
    step, alone, slug, beside = PROVEN[cause]
    told = getattr(causes, cause)(evidence(step, alone, hidden=True))
    assert told == slug or (slug and slug in told)
    assert getattr(causes, cause)(evidence(step, beside, hidden=True)) is None


@pytest.mark.parametrize("cause", [name for name, row in PROVEN.items() if row[2]])
def test_it_is_named(cause):
    step, alone, slug, _ = PROVEN[cause]
    assert mistake(step, alone, hidden=True).misconception == slug


def test_a_class_without_a_default_is_named():
    text = CLASS.format(body=indent(of_class(), " " * 8)).replace("causal=False", "causal")
    space = {"torch": torch, "nn": torch.nn, "math": math}
    run_cell(text, space)
    with pytest.raises(check.Mistake) as caught:
        check.MultiHeadAttention(space["MultiHeadAttention"])
    assert caught.value.misconception == "wrong-default"


def test_what_raises_first_is_told_first():
    assert causes.hiding(evidence("split_heads", FLOAT + " + 1"))[0] == "float-size"
    assert causes.hiding(evidence("split_heads", SPLIT)) is None
