"""Wrong answers of kinds that the bank lacks get a fitting name or none, and an explanation."""

import pytest
from tests.attention_lab.check.learner import LINES, mistake, of_class

from attention_lab.check import diagnose

SPLIT = "x.reshape(*x.shape[:2], num_heads, -1).transpose(1, 2)"
SCORED = "s = scores if mask is None else scores + mask\n"
ANSWERS = [
    ("project", "return q_proj(x), k_proj(x), v_proj(x.flip(1))", None),
    ("project", "return q_proj(x / x.size(-1)), k_proj(x), v_proj(x)", "scale-in-wrong-step"),
    ("project", "return q_proj(F.dropout(x, 0.1)), k_proj(x), v_proj(x)", "dropout-always-on"),
    ("project", "x.relu_()\nreturn q_proj(x), k_proj(x), v_proj(x)", "extra-nonlinearity"),
    ("project", "print('hello')", None),
    ("project", "return q_proj, k_proj, v_proj", None),
    (
        "project",
        "return [p(x).bfloat16().to(x.dtype) for p in (q_proj, k_proj, v_proj)]",
        "dtype-changed",
    ),
    (
        "split_heads",
        "return x.reshape(*x.shape[:2], -1, num_heads).transpose(1, 2)",
        "split-by-d-head",
    ),
    ("split_heads", f"return {SPLIT}.flip(2)", None),
    ("split_heads", f"return {SPLIT}.roll(1, 1)", None),
    ("attention_scores", "return q @ k.mT / (math.sqrt(q.size(-1)) * 1.01)", None),
    ("attention_scores", "return q @ k.mT / math.sqrt(q.size(-1) - 1)", None),
    ("attention_scores", "return (q @ k.mT / math.sqrt(q.size(-1))).clamp(-5, 5)", None),
    ("attention_scores", "return -(q @ k.mT) / math.sqrt(q.size(-1))", "scores-negated"),
    ("attention_scores", "return q @ q.mT / math.sqrt(q.size(-1))", "compared-with-itself"),
    ("attention_scores", "return -torch.cdist(q, k)", "missing-scale"),
    (
        "attention_scores",
        "return torch.einsum('bhqd,bhke->bhqk', q, k) / math.sqrt(q.size(-1))",
        "sums-apart",
    ),
    ("attention_scores", "return q @ k.T", "missing-scale"),
    ("attention_scores", "return q @ k.mT / (math.sqrt(q.size(-1)) + 1e-3)", None),
    (
        "attention_scores",
        "s = q @ k.mT / math.sqrt(q.size(-1))\nreturn s.detach() + (s - s.detach()) * 2",
        None,  # none is lost: it is doubled
    ),
    ("causal_mask", "return torch.full((T, T), -math.inf).tril(1)", "mask-inverted"),
    ("causal_mask", "return torch.full((T, T), -math.inf)", "mask-closes-all"),
    ("causal_mask", "return torch.full((1, T), -math.inf).triu(1)", "wrong-return-shape"),
    (
        "causal_mask",
        "past = torch.full((T, T), -math.inf).tril(-3)\n"
        "return past + torch.full((T, T), -math.inf).triu(1)",
        "mask-window",
    ),
    ("causal_mask", "return torch.full((T, T), -math.inf).triu(1).flip(1)", None),
    ("causal_mask", "return torch.zeros(T, T, dtype=dtype)", "shape-only-stub"),
    (
        "causal_mask",
        "return torch.ones(T, T, dtype=dtype).tril() * -math.inf",
        "mask-zero-times-inf",
    ),
    ("masked_softmax", f"{SCORED}return s.softmax(-1) * 0.999", None),
    ("masked_softmax", f"{SCORED}return (s / 1.01).softmax(-1)", None),
    ("masked_softmax", f"{SCORED}return (s * 2).softmax(-1)", None),
    ("masked_softmax", f"{SCORED}return (s / 8).softmax(-1)", "double-scale"),
    ("masked_softmax", f"{SCORED}return s.exp()", "not-normalised"),
    ("masked_softmax", f"{SCORED}p = 2**s\nreturn p / p.sum(-1, keepdim=True)", "other-base"),
    (
        "masked_softmax",
        "return (scores if mask is None else scores + mask.T).softmax(-1)",
        "mask-transposed",
    ),
    ("masked_softmax", f"{SCORED}return s.softmax(-1).round(decimals=3)", None),
    ("masked_softmax", "return scores.masked_fill(mask.tril() < 0, -math.inf).softmax(-1)"
     " if mask is not None else scores.softmax(-1)", None),
    ("masked_softmax", f"{SCORED}return (s - s.logcumsumexp(-1)[..., -1:]).exp()", None),
    ("masked_softmax", "return scores.softmax(-2)", "mask-ignored"),
    ("attend", "return weights @ v + v", "residual-added"),
    ("attend", "return weights.tril() @ v", None),
    ("attend", "return weights @ v / v.size(2)", None),
    ("attend", "return weights @ v / math.sqrt(v.size(-1))", "double-scale"),
    ("attend", "return torch.einsum('bhqk,bhkd->bhkd', weights, v)", "sums-over-queries"),
    ("merge_heads", "return torch.cat(x.unbind(1), 1)", "heads-one-after-another"),
    ("merge_heads", "return x.transpose(1, 2).flatten(2).flip(-1)", None),
    ("merge_heads", "return x.transpose(1, 2).flatten(2) + 1e-3", None),
    (
        "MultiHeadAttention",
        of_class(
            heads="q, k, v = (t.view(B, T, self.d_head, -1).transpose(1, 2) for t in (q, k, v))"
        ),
        "split-by-d-head",
    ),
    ("MultiHeadAttention", of_class(out="return self.v_proj(m)"), "another-layer-out"),
    (
        "MultiHeadAttention",
        of_class(
            heads="with torch.autocast('cpu', torch.bfloat16):\n"
            "    q, k = self.q_proj(x), self.k_proj(x)\n"
            f"q, k = q.to(x), k.to(x)\n{LINES['heads']}"
        ),
        None,
    ),
    (
        "MultiHeadAttention",
        of_class(heads=f"k = self.k_proj(q)\nv = self.v_proj(k)\n{LINES['heads']}"),
        "chained-projection",
    ),
    (
        "MultiHeadAttention",
        of_class(out="return self.__dict__.setdefault((x.shape, causal), self.out_proj(m))"),
        "stale-cache",
    ),
    (
        "MultiHeadAttention",
        of_class(scores="s = q @ k.mT / self.d_head**0.5\ns = s.detach() if causal else s"),
        "gradient-lost",
    ),
    ("MultiHeadAttention", of_class(scores="s = q @ k.mT", out="return m"), "missing-out-proj"),
    (
        "MultiHeadAttention",
        of_class(scores="s = q @ k.mT / self.d_head", merge="m = m.reshape(B, T, D)"),
        "scale-without-sqrt",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("step", "source", "slug"), ANSWERS)
def test_no_name_is_better_than_a_wrong_one(step, source, slug, monkeypatch):
    monkeypatch.setattr(diagnose, "KINDS", {})  # where explaining fails, fail
    found = mistake(step, source)
    assert found.misconception == slug
    assert len(str(found).splitlines()) <= 6 + bool(found.where)


def unmasked(source):
    """A softmax that does this where there is no mask."""
    return f"if mask is None:\n    {source}\nreturn (scores + mask).softmax(-1)"


def kept(mask):
    """A class that keeps its mask until T changes."""
    is_old = "len(self.__dict__.get('kept', ())) == T"
    lines = f"    if not {is_old}:\n        self.kept = {mask}\n    s = s + self.kept"
    return of_class(mask=f"if causal:\n{lines}")


def filled(number):
    """A class that closes cells with this number."""
    return of_class(mask=LINES["mask"].replace("-math.inf", number))


REMEMBERED = "globals().setdefault('remembered', {})"
KEPT_WEIGHT = "w = self.__dict__.setdefault('w', self.q_proj.weight.clone())"
ADDED = "s = s + torch.full((T, T), -9e5, dtype=x.dtype, device=x.device).triu(1) * causal"
HIDDEN = [
    ("masked_softmax", unmasked("return (scores + torch.zeros(1)).softmax(-1)"), None),
    ("masked_softmax", unmasked("return F.softmax(scores, -1, dtype=torch.float32)"),
     "dtype-changed"),
    ("masked_softmax", unmasked("return scores.detach().softmax(-1)"), "gradient-lost"),
    ("masked_softmax", unmasked("return scores.view(-1, scores.size(-1)).softmax(-1)"
                                ".view(scores.shape)"), "contiguous-only"),
    ("masked_softmax", unmasked("return scores.softmax(-1).mul_(2).div(2)"),
     "backward-broken-inplace"),
    ("masked_softmax", unmasked("return scores.softmax(-1).squeeze()"), "squeeze-drops-dims"),
    (
        "masked_softmax",
        "if mask is not None:\n"
        "    closed = torch.zeros_like(scores)\n"
        "    closed[..., :16, :16] = mask[:16, :16]\n"
        "    scores = scores + closed\n"
        "return scores.softmax(-1)",
        "hard-coded-size",
    ),
    (
        "attention_scores",
        "k = F.pad(k[:, :, :16], (0, 0, 0, max(0, k.size(2) - 16)))\n"
        "return q @ k.mT / math.sqrt(q.size(-1))",
        "hard-coded-size",
    ),
    ("attend", "return weights[..., :32] @ v[:, :, :32]", "hard-coded-size"),
    ("split_heads", f"return {SPLIT} * (x.size(1) < 64)", None),
    ("split_heads", "x = x.squeeze(0).unflatten(-1, (num_heads, -1))\n"
                    "return x.transpose(0, 1).unsqueeze(0)", "batch-one-only"),
    ("split_heads", "y = x.unflatten(2, (num_heads, -1)).movedim(2, 1)\nreturn y.cumsum(0)",
     "batch-mixed"),
    ("merge_heads", "return x.transpose(1, 2).flatten(2).cumsum(0)", "batch-mixed"),
    ("attention_scores",
     "return torch.einsum('bhqd,chkd->bhqk', q, k) / math.sqrt(q.size(-1))", "batch-mixed"),
    ("attend", "return torch.einsum('bhqk,chkd->bhqd', weights, v)", "batch-mixed"),
    (
        "causal_mask",
        "new = torch.full((T, T), -math.inf, device=device, dtype=dtype).triu(1)\n"
        "kept = causal_mask.__dict__\n"
        "if len(kept.setdefault('mask', new)) != T:\n"
        "    kept['mask'] = new\n"
        "return kept['mask']",
        "stale-cache",
    ),
    (
        "MultiHeadAttention",
        of_class(heads=f"{KEPT_WEIGHT}\nq = F.linear(x, w, self.q_proj.bias)\n{LINES['heads']}"),
        "stale-cache",
    ),
    (
        "MultiHeadAttention",
        kept("torch.full((T, T), -math.inf, device=x.device, dtype=x.dtype).triu(1)"),
        "stale-cache",
    ),
    (
        "MultiHeadAttention",
        of_class(out="return self.out_proj(m if self.training else m.detach())"),
        "gradient-lost",
    ),
    (
        "MultiHeadAttention",
        of_class(
            mix="m = s.softmax(-1) @ v if self.training else "
            "F.scaled_dot_product_attention(q, k, v, is_causal=causal)"
        ),
        "forbidden-library-call",
    ),
    ("MultiHeadAttention", filled("-9e5"), "mask-finite-value"),
    ("MultiHeadAttention", of_class(mask=ADDED), None),
    ("MultiHeadAttention", of_class(heads=f"q = q.float()\n{LINES['heads']}"), "dtype-hard-coded"),
    ("MultiHeadAttention",
     of_class(heads="q, k, v = q.view(B, T, 3, self.num_heads, self.d_head).unbind(2)"), None),
    (
        "attention_scores",
        "s = q.new_zeros(*q.shape[:3], k.size(2))\n"
        "for h in range(q.size(1)):\n"
        "    for d in range(q.size(3)):\n"
        "        s[:, h] += q[:, h, :, None, d] * k[:, h, None, :, d]\n"
        "return s / math.sqrt(q.size(3))",
        "python-loop-over-heads",
    ),
    ("split_heads", f"x = x[:, :64]\nreturn {SPLIT}", "hard-coded-size"),
    ("merge_heads", "return x[:, :, :64].transpose(1, 2).flatten(2)", "hard-coded-size"),
    ("project", "x = x[:, :64]\nreturn q_proj(x), k_proj(x), v_proj(x)", "hard-coded-size"),
    ("MultiHeadAttention",
     kept("torch.full((T, T), -math.inf, device=x.device).triu(1)"), "stale-cache"),
    (
        "MultiHeadAttention",
        of_class(
            mask="new = torch.full((T, T), -math.inf, device=x.device, dtype=x.dtype).triu(1)\n"
            f"if causal:\n    s = s + {REMEMBERED}.setdefault((T, x.device), new)"
        ),
        None,
    ),
    (
        "attention_scores",
        "scale = torch.full((1,), q.size(-1) ** -0.5, device=q.device, dtype=q.dtype)\n"
        f"return q @ k.mT * {REMEMBERED}.setdefault((q.size(-1), q.device), scale)",
        "dtype-changed",
    ),
    ("MultiHeadAttention",
     of_class(mix="p = s.softmax(-1) if causal else s.exp() / s.exp().sum(-1, keepdim=True)\n"
                  "m = p @ v"), None),
    ("MultiHeadAttention", of_class(mask=f"{LINES['mask']}\nif T > 20 and not causal:\n"
                                         "    s = s + torch.ones_like(s).triu(1)"),
     "hard-coded-size"),
    ("split_heads", f"out = {SPLIT}\n"
     f"kept = {REMEMBERED}.setdefault((out.shape, x.dtype, x.device), torch.empty_like(out))\n"
     "return kept.detach().copy_(out)", None),
    ("merge_heads", "out = x.transpose(1, 2).flatten(2)\n"
     f"kept = {REMEMBERED}.setdefault((out.shape, x.dtype, x.device), torch.empty_like(out))\n"
     "return kept.detach().copy_(out)", None),
    ("split_heads", f"square = x.size(1) == x.size(2)\n"
     f"return x.reshape(x.size(0), num_heads, x.size(1), -1) if square else {SPLIT}", None),
    ("causal_mask", "if T == 1:\n    return torch.zeros(1, 1, device=device)\n"
                    "return torch.full((T, T), -math.inf, device=device, dtype=dtype).triu(1)",
     "mask-wrong-dtype"),
]  # fmt: skip


@pytest.mark.parametrize(("step", "source", "slug"), HIDDEN)
def test_hidden_trials_see_what_is_right_in_the_visible_ones(step, source, slug):
    assert mistake(step, source, hidden=True).misconception == slug
