"""Answers that ask for values or sizes where they should ask for positions are rejected.

They are right for most numbers, or at most sizes; a learner meets such idioms in forums. Beside
them stand right answers that ask for values as they may.
"""

import pytest
from tests.attention_lab.check.learner import LINES, of_class, typed
from verdict import verdict

from attention_lab import check

SEEDS = (0, 5, 12)
MASKED = "s = scores if mask is None else scores + mask\n"


def of_mask(body):
    """A softmax whose scores are masked in this way, where there is a mask."""
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    return f"s = scores\nif mask is not None:\n{lines}\nreturn s.softmax(-1)"


def split(body):
    return f"{SPLIT}{body}"


SPLIT = "B, T, D = x.shape\nd = D // num_heads\ny = x.view(B, T, -1, d).transpose(1, 2)\n"
MERGED = "B, H, T, d = x.shape\ny = x.transpose(1, 2).reshape(B, T, H * d)\n"
SCORED = "s = q @ k.mT / math.sqrt(q.size(-1))\n"
MASK = "m = torch.full((T, T), -math.inf, device=device, dtype=dtype).triu(1)\n"
MIXED = "y = weights @ v\n"
PROJECTED = "a, b, c = q_proj(x), k_proj(x), v_proj(x)\n"


def scores(line):
    return of_class(scores=f"{LINES['scores']}\n{line}")


def mix(line):
    return of_class(mix=f"w = s.softmax(-1)\n{line}\nm = w @ v")


def mask(line):
    return of_class(mask=f"if causal:\n    s = s.tril()\n    {line}")


WRONG = {
    "masked_softmax": (
        of_mask("s = s * (mask == 0)\ns = s.masked_fill(s == 0, -math.inf)"),
        of_mask("s = (s * (mask == 0)).where(s * (mask == 0) != 0, -math.inf)"),
        of_mask("s = s.masked_fill(mask < 0, 0)\ns[s == 0] = -math.inf"),
        of_mask("s = torch.nan_to_num(s * mask.exp())\ns = s.masked_fill(s == 0, -1e9)"),
        of_mask("s = s * (mask == 0)\ns = s + (s == 0) * -1e9"),
        of_mask("s = s.tril() if mask[0, -1] < 0 else s + mask\ns = s.masked_fill(s == 0, -1e9)"),
        f"{MASKED}return s.masked_fill(s == 0, -math.inf).softmax(-1)",
        f"{MASKED}return s.masked_fill(s > 5000, 5000).softmax(-1)",
        f"{MASKED}return s.clamp(min=-50).softmax(-1)",
        f"{MASKED}return s.clamp(max=50).softmax(-1)",
        f"{MASKED}return s.clamp(-100, 100).softmax(-1)",
        f"{MASKED}return s.masked_fill(s < -1000, -math.inf).softmax(-1)",
        f"{MASKED}e = s.exp()\nreturn e / e.sum(-1, keepdim=True)",
        f"{MASKED}e = (s - s.max()).exp()\nreturn e / e.sum(-1, keepdim=True)",
        f"{MASKED}e = (s - s.mean(-1, keepdim=True).nan_to_num(0, 0, 0)).exp()\n"
        "return e / e.sum(-1, keepdim=True)",
        f"{MASKED}w = s.softmax(-1)\nreturn w * (1 + 0.01 * (w == 1))",
        f"{MASKED}if (s > 0).all():\n    s = s.log()\nreturn s.softmax(-1)",
        f"{MASKED}if (scores < 0).all():\n    s = -s.abs().sqrt()\nreturn s.softmax(-1)",
        f"{MASKED}if not scores.any():\n    return scores\nreturn s.softmax(-1)",
        f"{MASKED}if (scores == scores.round()).all():\n    s = s * 2\nreturn s.softmax(-1)",
        f"{MASKED}w = s.softmax(-1)\nreturn w.masked_fill(w < 0.001, 0)",
        f"{MASKED}s = torch.where(scores == 0, -1e9, s)\nreturn s.softmax(-1)",
        of_mask("s = s + torch.full_like(mask, -math.inf).triu(1) if mask.any() else s"),
        "s = scores\nif mask is not None and mask[0, 0] == 0:\n    s = scores + mask\n"
        "return s.softmax(-1)",
        "s = scores\nif mask is not None:\n    s = scores + mask.clone().fill_diagonal_(0)\n"
        "return s.softmax(-1)",
        of_mask("s = s + mask.tril()"),
        f"{MASKED}return s.softmax(-2 if s.size(-1) in (64, 128) else -1)",
        f"{MASKED}return s.softmax(-1 if s.size(0) <= s.size(-1) else -2)",
        f"{MASKED}return s[..., :64].softmax(-1) if s.size(-1) > 64 else s.softmax(-1)",
        of_mask("s = s.masked_fill(mask.isinf() & (s != 0), -1e9)"),
        of_mask("s = torch.where(s > 0, s + mask, s + mask / 2).masked_fill(s == 0, 0)"),
        f"{MASKED}return s.softmax(-1) * (len(scores.unique()) > 1)",
    ),
    "attention_scores": (
        f"{SCORED}return s.masked_fill(s == 0, -1e9)",
        f"{SCORED}return torch.where(s > 0, s, 0.99 * s)",
        f"{SCORED}return s.clamp(-100, 100)",
        f"{SCORED}return s.clamp(max=1000)",
        f"{SCORED}return s.relu() - (-s).relu() * (s.amin() > -1000)",
        f"{SCORED}return s / max(1.0, float(s.abs().max()) / 500)",
        f"{SCORED}return s.masked_fill(s.abs() < 1e-3, 0)",
        f"{SCORED}return torch.where(s.abs() < 1e-3, torch.ones_like(s), s)",
        f"{SCORED}return s * 2 if (q > 0).all() else s",
        f"{SCORED}return s * 2 if (q < 0).all() else s",
        f"{SCORED}return s if q.any() else s + 1",
        f"{SCORED}return s.half().to(s.dtype) if (q == q.round()).all() else s",
        "r = q.size(-1) if q.size(-1) <= 64 else 64\nif q.size(2) == r:\n    r = 1\n"
        "return q @ k.mT / math.sqrt(r)",
        "return q @ k.mT / math.sqrt(max(q.shape[-1], 3))",
        "return q @ k.mT / math.sqrt(min(q.shape[-1], 8))",
        "r = q.size(-1)\nr = r if r & (r - 1) else r // 2 or 1\nreturn q @ k.mT / math.sqrt(r)",
        "return q @ (k.mT if k.size(0) <= k.size(2) else k.mT.flip(-1)) / math.sqrt(q.size(-1))",
        "return q @ (k.mT if k.size(3) <= k.size(2) or k.size(2) < 4 else k.mT.flip(-1))"
        " / math.sqrt(q.size(-1))",
        f"{SCORED}return s if s.size(-1) <= 64 else s.tril()",
        f"{SCORED}return s if s.size(-1) not in (64, 128) else s * 0.5",
        f"{SCORED}return s.round(decimals=4)",
        "q = q / q.abs().amax().clamp(min=1e-3) * q.abs().amax()\n"
        "n = q.norm(dim=-1, keepdim=True)\nreturn (q * (n > 0.01)) @ k.mT / math.sqrt(q.size(-1))",
        f"{SCORED}return s.nan_to_num(neginf=-1e4) * (s > -9000)",
        f"{SCORED}return s + 1e-3 * (s[..., :1] == s).all(-1, keepdim=True)",
    ),
    "causal_mask": (
        f"{MASK}return m if T != 128 and T != 64 else torch.zeros_like(m)",
        f"{MASK}return m if T <= 1024 else torch.zeros_like(m)",
        f"{MASK}return m if T & (T - 1) or T < 8 else torch.zeros_like(m)",
        f"{MASK}return m if T < 25 or T > 60 else m.tril(8)",
        f"{MASK}m[min(T - 1, 20):] = 0\nreturn m",
        f"{MASK}m[:, min(T, 60):] = 0\nreturn m",
        f"{MASK}return m if T > 1 else m - 1e9 if T == 2 else m[:0]",
        f"{MASK}return m if T > 1 else torch.full_like(m, -math.inf)",
        f"{MASK}m[0, 1 if T > 10 else -1:] = m[0, 1 if T > 10 else -1:] * (T < 20)\nreturn m",
        f"{MASK}return m.triu(1) if T < 66 else m.triu(1).tril(65)",
        f"{MASK}return m.clamp(min=-1e4)",
        f"{MASK}return m + torch.arange(T, device=device)",
    ),
    "split_heads": (
        split("return y.masked_fill(y == 0, 1e-3)"),
        split("return y.clamp(-10, 10)"),
        split("return torch.where(y.abs() < 1e-4, 0, y)"),
        split("return y.nan_to_num(posinf=1).clamp(max=1e6)"),
        split("return y.half().to(x.dtype)"),
        split("return y if (x < 0).any() else y.flip(1)"),
        split("return y if (x > 0).any() else y.flip(1)"),
        split("return y.round(decimals=5)"),
        split("return y if x.any() else y[:1]"),
        split("return y if T <= D or B > 2 else y.transpose(0, 0).flip(2)"),
        split("return y if B <= T else y.flip(0)"),
        split("return y if T not in (64, 128) else y.flip(2)"),
        split("return y if d <= T else y.flip(1)"),
        split("return y if D & (D - 1) or T < 8 else y.flip(1)"),
        split("return y[:, :, :64]"),
        split("return y if len(x.unique(dim=1)[0]) == T else y.flip(2)"),
        split("return y if (x[:, 0] != 0).any() else y.flip(2)"),
        split("return y if x[0, 0].any() else y.flip(2)"),
        split("return y if x.abs().max() < 1e6 else y / 1e30"),
        split("return y if x.abs().max() > 1e-3 else y * 0"),
    ),
    "merge_heads": (
        f"{MERGED}return y.masked_fill(y == 0, 1e-3)",
        f"{MERGED}return y.clamp(-10, 10)",
        f"{MERGED}return torch.where(y.abs() < 1e-4, 0, y)",
        f"{MERGED}return y if (x < 0).any() else y.flip(1)",
        f"{MERGED}return y if (x > 0).any() else y.flip(1)",
        f"{MERGED}return y if x.any() else y + 1",
        f"{MERGED}return y if T <= H * d else y.flip(1)",
        f"{MERGED}return y if B <= T else y.flip(0)",
        f"{MERGED}return y if T not in (64, 128) else y.flip(1)",
        f"{MERGED}return y if d <= T else y.flip(2)",
        f"{MERGED}return y[:, :64]",
        f"{MERGED}return y if x.abs().max() < 1e6 else y / 1e30",
        f"{MERGED}return y if x[:, :, 0].any() else y.flip(1)",
        f"{MERGED}return y.half().to(x.dtype)",
    ),
    "attend": (
        f"{MIXED}return y.masked_fill(y == 0, 1e-3)",
        "w = weights.masked_fill(weights == 0, 0.01)\nreturn w @ v",
        "return weights @ v.masked_fill(v == 0, 1.0)",
        "w = weights * (weights < 1)\nreturn w @ v",
        "w = torch.where(weights == 1, 0.5, weights)\nreturn w @ v",
        f"{MIXED}return y if (v < 0).any() else y.flip(2)",
        f"{MIXED}return y if (v > 0).any() else y.flip(2)",
        f"{MIXED}return y if v.any() else y + 1",
        f"{MIXED}return y if (v != v.round()).any() else y.round()",
        f"{MIXED}return y if v.size(0) <= v.size(2) else y.flip(0)",
        f"{MIXED}return y if v.size(3) <= v.size(2) else y.flip(1)",
        f"{MIXED}return y if v.size(2) not in (64, 128) else y.flip(2)",
        "return weights[..., :64] @ v[:, :, :64]",
        "return weights @ v if weights.triu(1).any() or weights.size(-1) == 1 else weights.mT @ v",
    ),
    "project": (
        f"{PROJECTED}return a.masked_fill(a == 0, 1), b, c",
        f"{PROJECTED}return a, b, c.clamp(-100, 100)",
        f"{PROJECTED}return (a, b, c) if (x < 0).any() else (a, c, b)",
        f"{PROJECTED}return (a, b, c) if (x > 0).any() else (a, c, b)",
        f"{PROJECTED}return (a, b, c) if x.any() else (x, x, x)",
        "x = x.masked_fill(x == 0, 0.1)\nreturn q_proj(x), k_proj(x), v_proj(x)",
        f"{PROJECTED}return (a, b, c) if x.size(1) <= x.size(2) else (b, a, c)",
        f"{PROJECTED}return (a, b, c) if x.size(0) <= x.size(1) else (b, a, c)",
        f"{PROJECTED}return (a, b, c) if x.size(1) not in (64, 128) else (b, a, c)",
        f"{PROJECTED}return (a, b, c) if (x != x.round()).any() else (b, a, c)",
        "x = x[:, :64]\nreturn q_proj(x), k_proj(x), v_proj(x)",
    ),
    "MultiHeadAttention": (
        mask("s = s.masked_fill(s == 0, -math.inf)"),
        mask("s = torch.where(s == 0, -1e9, s)"),
        mask("s[s == 0] = -math.inf"),
        mask("s = s + (s == 0) * -1e9"),
        scores("s = s.masked_fill(s == 0, -1e9)"),
        scores("s = s.clamp(-50, 50)"),
        scores("s = s.clamp(min=-1000)"),
        of_class(out="return self.out_proj(m) if x.any() else x"),
        mix("w = w.masked_fill(w < 0.001, 0)"),
        mix("w = w if (x < 0).any() else w.mT"),
        mix("w = w if (x > 0).any() else w.mT"),
        mix("w = w if (x != x.round()).any() else w.mT"),
        mix("w = w if T <= D or T < 8 else w.mT"),
        mix("w = w if B <= T else w.flip(0)"),
        mix("w = w if T not in (64, 128) else w.flip(0).mT"),
        mix("w = w if self.d_head <= T or T < 4 else w.mT"),
        of_class(out="m = m.masked_fill(m == 0, 1)\nreturn self.out_proj(m + (1e-2 * (x == 0)))"),
        of_class(out="return self.out_proj(m) * (x.abs().sum(-1, keepdim=True) > 0)"),
        of_class(out="return self.out_proj(m)[:, :64]"),
        of_class(mask="if causal:\n    t = torch.ones(64, 64, device=x.device).triu(1).bool()\n"
                      "    more = max(0, T - 64)\n"
                      "    t = F.pad(t, (0, more, 0, more))[:T, :T]\n"
                      "    s = s.masked_fill(t, -math.inf)"),
    ),
}  # fmt: skip
RIGHT = {
    "masked_softmax": (
        "if mask is not None:\n    scores = scores.masked_fill(mask.isinf(), -math.inf)\n"
        "return scores.softmax(-1)",
        "if mask is not None:\n    scores = torch.where(mask == 0, scores, -math.inf)\n"
        "return scores.softmax(-1)",
        of_mask("s = torch.where(mask < 0, -1e9, s)"),
        of_mask("s = s + mask if mask.any() else s"),
        f"{MASKED}return s.softmax(-1).nan_to_num(0)",
        f"{MASKED}e = (s - s.amax(-1, keepdim=True)).exp()\nreturn e / e.sum(-1, keepdim=True)",
        f"{MASKED}w = s.softmax(-1)\nreturn w.masked_fill(s.isinf(), 0)",
        f"{MASKED}p = s.argsort(-1)\nreturn torch.zeros_like(s).scatter(-1, p, s.gather(-1, p)"
        ".softmax(-1))",
    ),
    "causal_mask": (
        "r = torch.arange(T, device=device)\nm = torch.zeros(T, T, device=device, dtype=dtype)\n"
        "return m.masked_fill(r > r[:, None], -math.inf)",
        "m = torch.ones(T, T, device=device, dtype=dtype).tril()\nreturn m.log()",
        "m = torch.ones(T, T, device=device, dtype=dtype).tril()\n"
        "return torch.where(m == 0, -math.inf, 0.0).to(m.dtype)",
        "m = torch.full((T, T), -math.inf, device=device, dtype=dtype).triu(1)\n"
        "return torch.zeros_like(m).where(m == 0, -1e9)",
        f"{MASK}return m + 1",
        f"{MASK}return m + 500",
    ),
    "attend": (
        "return (weights[..., None] * v[:, :, None]).sum(-2)",
        "return weights.masked_fill(weights == 0, 0) @ v",
    ),
    "split_heads": (
        "B, T, D = x.shape\nreturn x.view(B, T, num_heads, -1).transpose(1, 2) + 0.0",
        "return torch.stack(x.chunk(num_heads, -1), 1)",
    ),
    "merge_heads": ("return torch.cat(x.unbind(1), -1)",),
    "attention_scores": (
        "return torch.einsum('bhqd,bhkd->bhqk', q, k) * q.size(-1) ** -0.5",
        "r = q.size(-1) ** -0.25\nreturn (q * r) @ (k * r).mT",
    ),
    "project": ("return [layer(x) for layer in (q_proj, k_proj, v_proj)]",),
    "MultiHeadAttention": (
        mask("s = s.masked_fill(torch.ones_like(s).tril() == 0, -math.inf)"),
        of_class(mask="if causal:\n    t = torch.ones_like(s).tril()\n"
                      "    s = s.masked_fill(t == 0, -math.inf)"),
        of_class(mask="if causal:\n    t = torch.full((T, T), -math.inf).to(x).triu(1)\n"
                      "    s = torch.where(t.isinf(), t, s)"),
        mix("w = w.nan_to_num(0)"),
    ),
}  # fmt: skip


def cases(table):
    return [(step, source) for step, sources in table.items() for source in sources]


@pytest.mark.parametrize(("step", "source"), cases(WRONG))
def test_what_hangs_on_values_or_sizes_is_rejected(step, source, undiagnosed, note):
    for seed in SEEDS:
        check.use_seed(seed)
        mistake = verdict(step, typed(step, source), hidden=True)
        note("values", "rejected" if mistake else "accepted")
        assert mistake, f"accepted with seed {seed}"


@pytest.mark.parametrize(("step", "source"), cases(RIGHT))
def test_what_asks_for_values_as_it_may_is_accepted(step, source, note):
    for seed in SEEDS:
        check.use_seed(seed)
        mistake = verdict(step, typed(step, source), hidden=True)
        note("values", "right rejected" if mistake else "right")
        assert mistake is None


def test_there_are_enough_of_them():
    assert set(WRONG) == set(RIGHT) == set(check.STEPS)
    assert len(cases(WRONG)) >= 80


@pytest.mark.parametrize(
    ("step", "source"),
    [
        ("causal_mask", "return torch.full((T, T), -math.inf, dtype=dtype).triu(1)"),
        ("masked_softmax", f"{MASKED}e = s.exp()\nreturn e / e.sum(-1, keepdim=True)"),
        ("masked_softmax", WRONG["masked_softmax"][0]),
        ("MultiHeadAttention", WRONG["MultiHeadAttention"][0]),
        (
            "MultiHeadAttention",
            of_class(mask="if causal:\n    s = s + torch.full((T, T), -math.inf).triu(1)"),
        ),
    ],
)
def test_what_a_learner_meets_is_seen_by_visible_checks(step, source, undiagnosed):
    assert verdict(step, typed(step, source))
