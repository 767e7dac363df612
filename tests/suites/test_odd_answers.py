"""Right answers of odd forms: callables that are no functions, detours, masks that are kept."""

import pytest
from tests.attention_lab.check.learner import typed
from verdict import verdict, written

IN_TWO = """
class Base(nn.Module):
    def forward(self, inputs, is_causal=False, **_):
        layers = (self.q_proj, self.k_proj, self.v_proj)
        q, k, v = (self.cut(p(inputs), self.num_heads) for p in layers)
        scores = q @ k.mT * self.scale
        if is_causal:
            scores = scores.masked_fill(torch.ones_like(scores).triu(1).bool(), -math.inf)
        return self.out_proj(self.join(scores.softmax(-1) @ v))

    @staticmethod
    def cut(x, num_heads):
        return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)

    @classmethod
    def join(cls, x):
        return x.transpose(1, 2).flatten(2)

    @property
    def scale(self):
        return self.d_head**-0.5


class MultiHeadAttention(Base):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads, self.d_head = num_heads, d_model // num_heads
        for name in ("q_proj", "k_proj", "v_proj", "out_proj"):
            self.add_module(name, nn.Linear(d_model, d_model))
"""
KEEPS_PARAMETERS = (
    IN_TWO.replace("p(inputs)", "F.linear(inputs, *p)").replace(
        "layers = (self.q_proj, self.k_proj, self.v_proj)", "layers = self.kept"
    )
    + """
        layers = (self.q_proj, self.k_proj, self.v_proj)
        self.kept = [(layer.weight, layer.bias) for layer in layers]
"""
)
ANSWERS = [
    (
        "project",
        "def project(x, *layers):\n"
        "    call = torch.func.functional_call\n"
        "    return [call(p, dict(p.named_parameters()), (x,)) for p in layers]",
    ),
    (
        "project",
        "def project(x, *layers):\n"
        "    return (F.conv1d(x.mT, p.weight[..., None], p.bias).mT for p in layers)",
    ),
    (
        "project",
        "def project(x, *layers):\n"
        "    wide = [F.linear(x.double(), p.weight.double(), p.bias.double()) for p in layers]\n"
        "    return tuple(y.to(x) for y in wide)",
    ),
    (
        "split_heads",
        "class Split:\n"
        "    @staticmethod\n"
        "    def cut(x, n, /, *, times=1):\n"
        "        return x.unflatten(-1, (times * n, -1)).transpose(1, 2)\n"
        "split_heads = Split.cut",
    ),
    (
        "split_heads",
        "def split_heads(x, n):\n"
        "    D = x.size(-1)\n"
        "    cut = torch.eye(D, dtype=x.dtype, device=x.device).view(n, D // n, D)\n"
        "    return torch.einsum('btc,hdc->bhtd', x, cut)",
    ),
    (
        "split_heads",
        "def split_heads(x, n):\n"
        "    x = torch.stack([x[..., i] for i in range(x.size(-1))], -1)\n"
        "    return x.unflatten(-1, (n, -1)).transpose(1, 2)",
    ),
    (
        "attention_scores",
        "def attention_scores(q, k):\n"
        "    q, k = (torch.complex(t, torch.zeros_like(t)) for t in (q, k))\n"
        "    return q.matmul(k.mH).real / math.sqrt(q.size(-1))",
    ),
    (
        "attention_scores",
        "def attention_scores(q, k):\n"
        "    flat = torch.baddbmm(q.new_zeros(1, 1, 1), q.flatten(0, 1), k.flatten(0, 1).mT,\n"
        "                         alpha=q.size(-1) ** -0.5)\n"
        "    return flat.unflatten(0, q.shape[:2])",
    ),
    (
        "causal_mask",
        "def causal_mask(T, device=None, dtype=None):\n"
        "    kept, key = causal_mask.__dict__, (T, str(device), dtype)\n"
        "    if key not in kept:\n"
        "        kept[key] = torch.full((T, T), -math.inf, device=device, dtype=dtype).triu(1)\n"
        "    return kept[key].clone()",
    ),
    (
        "causal_mask",
        "def causal_mask(T, device=None, dtype=None):\n"
        "    return torch.ones(T, T, device=device, dtype=dtype or torch.float32).tril().log()",
    ),
    (
        "masked_softmax",
        "class Softmax(nn.Module):\n"
        "    def forward(self, s, m=None):\n"
        "        s = s if m is None else s + m\n"
        "        return (s - s.logsumexp(-1, keepdim=True)).exp()\n"
        "masked_softmax = Softmax()",
    ),
    (
        "masked_softmax",
        "def masked_softmax(s, m=None):\n"
        "    s = s if m is None else s + m\n"
        "    p = 2 ** ((s - s.amax(-1, keepdim=True)) * math.log2(math.e))\n"
        "    return p / p.sum(-1, keepdim=True)",
    ),
    ("attend", "attend = torch.matmul"),
    ("attend", "import functools\nattend = functools.partial(torch.einsum, 'bhij,bhjd->bhid')"),
    ("attend", "attend = lambda p, values, *, dim=-1: (values.mT @ p.mT).mT"),
    ("merge_heads",
     "merge_heads = lambda x: x.permute(1, 3, 0, 2).flatten(0, 1).permute(1, 2, 0)"),
    (
        "merge_heads",
        "def merge_heads(x):\n"
        "    B, H, T, d = x.shape\n"
        "    out = x.new_zeros(B, T, H * d)\n"
        "    out.view(B, T, H, d).copy_(x.transpose(1, 2))\n"
        "    return out",
    ),
    ("split_heads", "def split_heads(x, n):\n    return x.mT.unflatten(1, (n, -1)).mT"),
    (
        "split_heads",
        "def split_heads(x, n):\n"
        "    d = x.size(-1) // n\n"
        "    return x.unfold(-1, d, d).movedim(2, 1)",
    ),
    (
        "attention_scores",
        "class Scores(torch.autograd.Function):\n"
        "    @staticmethod\n"
        "    def forward(ctx, q, k):\n"
        "        ctx.save_for_backward(q, k)\n"
        "        return q @ k.mT / q.size(-1) ** 0.5\n"
        "    @staticmethod\n"
        "    def backward(ctx, g):\n"
        "        q, k = ctx.saved_tensors\n"
        "        g = g / q.size(-1) ** 0.5\n"
        "        return g @ k, g.mT @ q\n"
        "attention_scores = Scores.apply",
    ),
    (
        "attend",
        "def attend(p, v):\n"
        "    here = p.cpu() @ v.to('cpu')\n"
        "    return here.to(v.device)",
    ),
    (
        "merge_heads",
        "def merge_heads(x):\n"
        "    B, H, T, d = x.shape\n"
        "    return F.fold(x.mT.reshape(B, H * d, T), (T, 1), (1, 1)).squeeze(-1).mT",
    ),
    ("MultiHeadAttention", IN_TWO),
    ("MultiHeadAttention", KEEPS_PARAMETERS),
]  # fmt: skip


@pytest.mark.parametrize(("step", "source"), ANSWERS, ids=range(len(ANSWERS)))
def test_odd_answers_are_accepted(step, source):
    assert verdict(step, written(source, step), hidden=True) is None


BODIES = [
    ("project", "return {'q': q_proj(x), 'k': k_proj(x), 'v': v_proj(x)}.values()"),
    ("project", "return torch.stack([torch.vmap(p)(x) for p in (q_proj, k_proj, v_proj)])"),
    ("project", "return map(lambda p: (p.weight @ x.mT).mT + p.bias, (q_proj, k_proj, v_proj))"),
    (
        "split_heads",
        "return torch.stack([b.unflatten(1, (num_heads, -1)).transpose(0, 1) for b in x])",
    ),
    (
        "split_heads",
        "return torch.vmap(lambda b: b.unflatten(1, (num_heads, -1)).transpose(0, 1))(x)",
    ),
    (
        "split_heads",
        "d = x.size(-1) // num_heads\n"
        "cut = F.unfold(x[:, None], (1, d), stride=(1, d))\n"
        "return cut.unflatten(2, (x.size(1), num_heads)).permute(0, 3, 2, 1)",
    ),
    (
        "attention_scores",
        "s = torch.tensordot(q, k, dims=([3], [3]))\n"
        "s = s.diagonal(dim1=0, dim2=3).diagonal(dim1=0, dim2=2)\n"
        "return s.permute(2, 3, 0, 1) / math.sqrt(q.size(-1))",
    ),
    (
        "attention_scores",
        "rows = [q[:, :, t : t + 1] @ k.mT for t in range(q.size(2))]\n"
        "return torch.cat(rows, 2) / math.sqrt(q.size(-1))",
    ),
    (
        "causal_mask",
        "ones = torch.ones(T, T, device=device, dtype=dtype or torch.float32)\n"
        "return ones.triu(1) * torch.finfo(ones.dtype).min",
    ),
    (
        "causal_mask",
        "cells = [[0.0 if j <= i else -math.inf for j in range(T)] for i in range(T)]\n"
        "return torch.tensor(cells, device=device, dtype=dtype)",
    ),
    ("causal_mask", "return torch.full((T, T), -math.inf, device=device, dtype=dtype).triu(1) + 1"),
    (
        "masked_softmax",
        "s = scores if mask is None else scores + mask\n"
        "return nn.Softmax2d()(s.permute(0, 3, 1, 2)).permute(0, 2, 3, 1)",
    ),
    (
        "masked_softmax",
        "s = scores if mask is None else torch.where(mask.isneginf(), mask, scores)\n"
        "return F.softmin(-s, dim=-1)",
    ),
    (
        "masked_softmax",
        "m = torch.zeros_like(scores[0, 0]) if mask is None else mask\n"
        "return torch.stack([(row + m).softmax(-1) for row in scores])",
    ),
    ("attend", "return torch.vmap(torch.vmap(torch.mm))(weights, v)"),
    (
        "attend",
        "out = torch.zeros_like(v)\n"
        "for j in range(v.size(2)):\n"
        "    out = out + weights[..., j : j + 1] * v[:, :, j : j + 1]\n"
        "return out",
    ),
    ("merge_heads", "return x.mT.flatten(1, 2).mT"),
    (
        "merge_heads",
        "B, H, T, d = x.shape\n"
        "i = torch.arange(H * d, device=x.device)\n"
        "return x[:, i // d, :, i % d].permute(1, 2, 0)",
    ),
    (
        "MultiHeadAttention",
        "q, k, v = (t.unflatten(2, (self.num_heads, -1)) for t in (q, k, v))\n"
        "rows = []\n"
        "for t in range(T):\n"
        "    seen = t + 1 if causal else T\n"
        "    s = torch.einsum('bhd,bnhd->bhn', q[:, t], k[:, :seen]) / self.d_head**0.5\n"
        "    rows.append(torch.einsum('bhn,bnhd->bhd', s.softmax(-1), v[:, :seen]).flatten(1))\n"
        "return self.out_proj(torch.stack(rows, 1))",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("step", "source"), BODIES, ids=range(len(BODIES)))
def test_odd_bodies_are_accepted(step, source):
    assert verdict(step, typed(step, source), hidden=True) is None
