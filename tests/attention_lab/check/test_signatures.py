"""Each signature names what it should, and keeps silent about a plain slip in a sum."""

import pytest
from tests.attention_lab.check.learner import evidence, mistake

from attention_lab.check.signatures import BESIDE, CERTAIN, OTHERS

ATTEND = "w = (q @ k.mT / self.d_head**0.5).softmax(-1)"

SIGNED = {
    "interface_changed": ("MultiHeadAttention", "self.q_proj = None\nreturn x", None),
    "changed_argument": ("attend", "v += 1\nreturn weights @ v", "mutates-input"),
    "called_library": (
        "MultiHeadAttention",
        "q, k, v = map(self.heads, (q, k, v))\n"
        "o = F.scaled_dot_product_attention(q, k, v, is_causal=causal)\n"
        "return self.out_proj(o.transpose(1, 2).flatten(2))",
        "forbidden-library-call",
    ),
    "disagrees_with_itself": ("attend", "return F.dropout(weights, 0.3) @ v", "dropout-always-on"),
    "ambiguous_truth": (
        "masked_softmax",
        "return (scores + mask if mask else scores).softmax(-1)",
        "ambiguous-truth-value",
    ),
    "float_size": (
        "split_heads",
        "return x.view(*x.shape[:2], num_heads, x.size(2) / num_heads).transpose(1, 2)",
        "float-size",
    ),
    "refused_view": (
        "merge_heads",
        "return x.transpose(1, 2).view(x.size(0), x.size(2), -1)",
        "missing-contiguous",
    ),
    "written_sizes": ("split_heads", "return x.view(1, 6, 4, 8).mT", "hard-coded-size"),
    "constant": (
        "merge_heads",
        "return x.new_ones(x.size(0), x.size(2), x[0, :, 0].numel())",
        "shape-only-stub",
    ),
    "returned_extra": ("attend", "return weights @ v, weights", "returns-extra"),
    "other_form": ("attend", "return (weights @ v).transpose(1, 2)", "wrong-axis-order"),
    "wrong_device": (
        "causal_mask",
        "return torch.full((T, T), -math.inf, dtype=dtype).triu(1)",
        "mask-wrong-device",
    ),
    "out_of_date": (
        "causal_mask",
        "kept = causal_mask.__dict__\n"
        "new = torch.full((T, T), -math.inf, device=device, dtype=dtype).triu(1)\n"
        "return kept.setdefault('mask', new)",
        "stale-cache",
    ),
    "rounded": (
        "attention_scores",
        "s = q @ k.mT / math.sqrt(q.size(-1))\nreturn s + (s.round(decimals=2) - s).detach()",
        "rounded-scores",
    ),
    "wrong_dtype": ("attend", "return (weights @ v).double()", "dtype-changed"),
    "float32_only": ("attend", "return weights.float() @ v", "dtype-hard-coded"),
    "looped": (
        "attend",
        "return torch.stack([weights[:, h] @ v[:, h] for h in range(v.size(1))], 1)",
        "python-loop-over-heads",
    ),
    "lost_gradient": ("attend", "return weights.detach() @ v", "gradient-lost"),
    "only_in_order": (
        "attend",
        "return weights.new_tensor(weights.untyped_storage()[:0]) if not v.is_contiguous() "
        "else weights @ v",
        "contiguous-only",
    ),
    "finite_mask": (
        "causal_mask",
        "return torch.full((T, T), -77.0, device=device, dtype=dtype).triu(1)",
        "mask-finite-value",
    ),
    "only_large_scores": (
        "masked_softmax",
        "e = (scores if mask is None else scores + mask).clamp(max=88).exp()\n"
        "return e / e.sum(-1, keepdim=True)",
        "softmax-overflow",
    ),
    "heads_alike": (
        "attend",
        "return (weights * weights).mean(1, keepdim=True).expand_as(weights) @ v[:, :1]",
        "heads-mixed",
    ),
    "scaled_projections": (
        "project",
        "return q_proj(x) / 3, k_proj(x), v_proj(x)",
        "scale-in-wrong-step",
    ),
    "scaled_scores": (
        "masked_softmax",
        "return ((scores if mask is None else scores + mask) / 3).softmax(-1)",
        "double-scale",
    ),
    "guarded_sum": (
        "masked_softmax",
        "s = scores if mask is None else scores + mask\n"
        "e = (s - s.amax(-1, keepdim=True)).exp()\n"
        "return e / (e.sum(-1, keepdim=True) + 5e-4)",
        "softmax-eps",
    ),
    "unused_layers": ("project", "return x * 2, x * 3, x * 4", "ignores-given-layers"),
    "fixed_scale": ("attention_scores", "return q @ k.mT / 11", "hard-coded-size"),
    "dropped_ones": (
        "MultiHeadAttention",
        "q, k, v = map(self.heads, (q, k, v))\n"
        "s = q @ k.mT / self.d_head**0.5\n"
        "s = s + torch.full((T, T), -math.inf).to(x).triu(1) if causal else s\n"
        "return self.out_proj((s.softmax(-1) @ v).transpose(1, 2).flatten(2)).squeeze()",
        "squeeze-drops-dims",
    ),
    "mask_of_batch_size": (
        "MultiHeadAttention",
        "q, k, v = map(self.heads, (q, k, v))\n"
        "s = q @ k.mT / self.d_head**0.5\n"
        "s = s + torch.full((B, B), -math.inf).to(x).triu(1) if causal else s\n"
        "return self.out_proj((s.softmax(-1) @ v).transpose(1, 2).flatten(2))",
        "mask-of-batch-size",
    ),
    "mask_beside_batch": (
        "MultiHeadAttention",
        "q, k, v = map(self.heads, (q, k, v))\n"
        "s = q @ k.mT / self.d_head**0.5\n"
        "s = s + torch.full((B, T, T), -math.inf).to(x).triu(1) if causal else s\n"
        "return self.out_proj((s.softmax(-1) @ v).transpose(1, 2).flatten(2))",
        "mask-broadcast-batch-heads",
    ),
    "fixed_sizes": (
        "split_heads",
        "return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)[:, :, :7]",
        "hard-coded-size",
    ),
    "imprecise": (
        "attend",
        "return (weights.half().float() @ v.half().float()).to(v)",
        "dtype-changed",
    ),
}


@pytest.mark.parametrize("name", SIGNED)
def test_it_is_named(name):
    step, source, slug = SIGNED[name]
    if slug:
        assert mistake(step, source, hidden=True).misconception == slug


SIGNATURES = {signature.__name__: signature for signature in (*CERTAIN, *BESIDE, *OTHERS)}


@pytest.mark.parametrize("name", sorted(SIGNED.keys() - {"interface_changed"}))
def test_it_is_this_signature_that_can_tell(name):
    step, source, slug = SIGNED[name]
    assert SIGNATURES[name](evidence(step, source, hidden=True)) == slug


PLAIN = {
    "project": "return q_proj(x) + 0.5, k_proj(x), v_proj(x)",
    "split_heads": "return x.view(*x.shape[:2], num_heads, -1).transpose(1, 2) + 0.5",
    "attention_scores": "return q @ k.mT / math.sqrt(q.size(-1)) + 0.5",
    "causal_mask": "m = torch.full((T, T), -math.inf, device=device, dtype=dtype).triu(1)\n"
    "return m + 7 * torch.eye(T, device=device, dtype=dtype)",
    "attend": "return weights @ v + 0.5",
    "merge_heads": "return x.transpose(1, 2).flatten(2) + 0.5",
}


@pytest.mark.parametrize("step", PLAIN)
def test_none_speaks_where_nothing_fits(step):
    found = evidence(step, PLAIN[step], hidden=True)
    assert found.wrong
    assert {name for name, signature in SIGNATURES.items() if signature(found)} == set()
