"""A name is given only where what it says is true of the code, and there it is not withheld."""

import linecache
import re
from textwrap import indent

import pytest
from tests.attention_lab.check.learner import CLASS, LINES, mistake, of_class
from verdict import verdict, written

from attention_lab.check.words import NOT_WHY

SCORED = "s = scores if mask is None else scores + mask"
POWERS = f"{SCORED}\ne = torch.exp(s - s.amax(-1, keepdim=True))"
SHARED = "return e / e.sum(-1, keepdim=True)"
SPLIT = "x.unflatten(-1, (num_heads, -1)).transpose(1, 2)"
DOTS = "q @ k.mT"
KEPT = (
    "kept = masked_softmax.__dict__\n"
    "kept['mask'] = mask = kept.get('mask') if mask is None else mask"
)
ADDED = (
    "s = s + torch.full((T, T), -math.inf, dtype=x.dtype, device=x.device).triu(1) if causal else s"
)
OF_BOOL = "s = s.masked_fill(torch.ones(T, T).triu(1).bool(), -math.inf) if causal else s"


RIGHT = CLASS.format(body=indent(of_class(), " " * 8))


FORWARD = re.compile("    def forward.*", re.DOTALL)
QUERIES = "self.q_proj, self.k_proj = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)"
VALUES = "self.v_proj, self.out_proj = nn.Linear(d_model, d_model),"


def projected(line):
    return f"{line}\nreturn q_proj(x), k_proj(x), v_proj(x)"


def begun(line):
    """A class that does this before it splits."""
    return of_class(heads=f"{line}\n{LINES['heads']}")


def scored(line):
    """A class that goes on from its scores with this line."""
    return of_class(scores=f"{LINES['scores']}\n{line}")


def masked(line):
    """A class that goes on from its masked scores with this line."""
    return of_class(mask=f"{ADDED}\n{line}")


def weighed(line):
    """A class that does this to its weights."""
    return of_class(mask=OF_BOOL, mix=f"w = s.softmax(-1)\n{line}\nm = w @ v")


def cut_into(sizes):
    """A class that cuts the last axis into these sizes."""
    return of_class(heads=f"q, k, v = (t.view(B, T, {sizes}).transpose(1, 2) for t in (q, k, v))")


USED = begun("causal = causal and not hasattr(self, 'used')\nself.used = True")
BOTH = [
    ("MultiHeadAttention", USED, "stale-cache"),
    # Axes that are read in another order, or made of nothing.
    ("split_heads", "B, D, T = x.shape\n"
     "return x.view(B, T, num_heads, D // num_heads).transpose(1, 2)", None),
    ("split_heads", "return x.unsqueeze(1)", None),
    ("split_heads", "return x.transpose(1, 2)", None),
    ("masked_softmax", "return (scores if mask is None else scores % mask).softmax(-1)", None),
    ("split_heads", "return x.transpose(1, 2).view(x.size(0), num_heads, x.size(1), -1)",
     "transpose-before-split"),
    ("MultiHeadAttention", cut_into("self.d_head, self.d_head"), None),
    ("MultiHeadAttention", cut_into("self.num_heads, self.num_heads"), None),
    # No number is written where torch refuses something else.
    ("causal_mask", "return torch.full((T, T), -math.inf).triu(1).astype(dtype)", None),
    ("causal_mask", "return torch.full((T, T), -math.inf).triu(1).cuda()", None),
    ("causal_mask", "return torch.full(float('-inf'), (T, T)).triu(1)", None),
    # Only a stub is unwritten.
    ("attend", "return torch.quantized_batch_norm(weights, None, v, v, v, 1e-5, 1.0, 1)", None),
    # Views of what is not in order, beside another mistake.
    ("attend", "B, H, T, d = v.shape\n"
     "return torch.bmm(weights.view(-1, T, T), v.view(-1, T, d)).view(B, T, H, d)", None),
    ("attention_scores", "B, H, T, d = q.shape\n"
     "return torch.bmm(q.view(-1, T, d), k.view(-1, T, d).mT).view(B, H, T, T)", "missing-scale"),
    # Layers that are used, though not as they should be, and some that are not.
    ("project", "return [F.linear(x, p.weight.data, p.bias.data) * 2\n"
     "        for p in (q_proj, k_proj, v_proj)]", None),
    ("project", "return q_proj(x) / x.shape[0], k_proj(x), v_proj(x)", None),
    ("project", "return q_proj(x, x, x), k_proj(x), v_proj(x)", None),
    ("project", "return q_proj(x), k_proj(x), x", "ignores-given-layers"),
    ("MultiHeadAttention", begun("v = x"), "ignores-given-layers"),
    ("attention_scores", f"return {DOTS} // math.sqrt(q.size(-1))", "rounded-scores"),
    # More than one thing is wrong, or one of another kind.
    ("attend", "return (weights @ v).double() + 1e-3", None),
    ("causal_mask",
     "return torch.full((T, T), math.inf, dtype=dtype, device=device).triu(1)", "mask-plus-inf"),
    # Met in public code.
    ("MultiHeadAttention",
     of_class(scores=f"s = {DOTS}", mix="m = s.softmax(-1) / self.d_head**0.5 @ v"),
     "scale-after-softmax"),
    ("MultiHeadAttention",
     of_class(heads=f"q, k, v = q.relu(), k.relu(), v.relu()\n{LINES['heads']}",
              out="return self.out_proj(m).relu()"), "extra-nonlinearity"),
    ("MultiHeadAttention",
     of_class(heads="y = F.layer_norm(x, x.shape[-1:])\n"
                    f"q, k, v = self.q_proj(y), self.k_proj(y), self.v_proj(y)\n{LINES['heads']}",
              out="return x + self.out_proj(m)"), "residual-added"),
    ("MultiHeadAttention", of_class(heads=f"{LINES['heads']}\nk, v = k[:, :1], v[:, :1]"),
     "every-head-same-slice"),
    ("MultiHeadAttention",
     of_class(heads="joined = torch.cat([q, k, v], -1).view(B, T, self.num_heads, -1)\n"
                    "q, k, v = (t.transpose(1, 2) for t in joined.chunk(3, -1))"),
     "qkv-interleaved"),
    ("MultiHeadAttention", of_class(mask=ADDED.replace("T, T", "q.shape[1], q.shape[1]")),
     "mask-of-head-count"),
    ("MultiHeadAttention",
     of_class(mask=OF_BOOL.replace("-math.inf", "-1e9"), mix="m = s.softmax(1) @ v"),
     "softmax-wrong-dim"),
    ("masked_softmax", "s = scores if mask is None else scores.masked_fill(mask < 0, -1e9)\n"
     "return s.softmax(dim=1)", "softmax-wrong-dim"),
    ("masked_softmax", "s = scores if mask is None else scores + (1 - mask) * -1e9\n"
     "return s.softmax(-1)", "mask-inverted"),
    ("masked_softmax", f"{POWERS}\nreturn e / e.sum(-1)", "sum-without-keepdim"),
    ("masked_softmax", f"{SCORED}\ne = s.exp()\nreturn e / e.sum(dim=-1)", "sum-without-keepdim"),
    # A float is no size where none was asked for.
    ("attention_scores", f"return {DOTS} / torch.sqrt(float(q.size(-1)))", None),
    ("attention_scores", f"scale = q.size(-1)**-0.5\nreturn scale({DOTS})", None),
    ("attention_scores", f"return ({DOTS},) * q.size(-1)**-0.5", None),
    ("attention_scores", "return q.shape / math.sqrt(q.size(-1))", None),
    ("causal_mask", "return torch.triu(-math.inf, 1)", None),
    ("causal_mask", "return torch.triu(torch.ones(T, T), 1.0) * -1e9", None),
    ("masked_softmax", "return scores.exp() / torch.sum(scores.exp(), -1.0)", None),
    ("project", projected("x = torch.sqrt(1.0) * x"), None),
    ("MultiHeadAttention", of_class(scores=f"s = {DOTS} / torch.sqrt(self.d_head * 1.0)"), None),
    ("MultiHeadAttention", masked("s.masked_fill(torch.triu(1.0), -math.inf)"), None),
    ("split_heads", "return torch.stack(x.split(x.size(-1) / num_heads, -1), 1)", "float-size"),
    ("split_heads", "return torch.stack(x.chunk(num_heads / 1, -1), 1)", "float-size"),
    ("split_heads", "return x.unflatten(-1, (num_heads, x.size(-1) / num_heads))", "float-size"),
    ("split_heads", "return x[..., : x.size(-1) / num_heads]", "float-size"),
    ("split_heads", "return [x[..., i] for i in range(x.size(-1) / 2)]", None),
    ("split_heads", "return x.view(x.size(-1) / num_heads, -1)", "float-size"),
    ("split_heads", "return x.narrow(-1, 0, x.size(-1) / num_heads)", "float-size"),
    # What is right for one size may be so by chance, or because it came first.
    ("attention_scores", f"return {DOTS} / (q.size(-1) // 2)", "operator-precedence"),
    ("attention_scores", f"return {DOTS} / math.log2(q.size(-1))", None),
    ("attention_scores", f"return {DOTS} / (q.size(-1) - 2)", None),
    (
        "attention_scores",
        "kept = attention_scores.__dict__\n"
        f"return {DOTS} / kept.setdefault('scale', math.sqrt(q.size(-1)))",
        "stale-cache",
    ),
    ("MultiHeadAttention", of_class(scores=f"s = {DOTS} / math.log2(self.d_head)"), None),
    ("MultiHeadAttention", begun("causal = self.__dict__.setdefault('causal', causal)"),
     "stale-cache"),
    ("MultiHeadAttention", begun("self.causal = causal = causal or hasattr(self, 'causal')"),
     "stale-cache"),
    # Where torch refuses, nothing is known of the numbers.
    ("project", projected("q_proj.weight /= math.sqrt(x.size(-1))"), "mutates-parameters"),
    ("project", projected("q_proj.weight = q_proj.weight * 0.5"), "mutates-parameters"),
    ("MultiHeadAttention", begun("self.q_proj.bias.zero_()"), "mutates-parameters"),
    ("project", "return [torch.from_numpy(p(x).numpy()) for p in (q_proj, k_proj, v_proj)]",
     "gradient-lost"),
    # Two calls differ for other reasons than dropout.
    (
        "MultiHeadAttention",
        scored("self.factor = self.__dict__.get('factor', 2) / 2\ns = s * self.factor"),
        "stale-cache",
    ),
    ("project", projected("q_proj = nn.Linear(x.size(-1), x.size(-1), dtype=x.dtype)"),
     "ignores-given-layers"),
    ("MultiHeadAttention", begun("q = nn.Linear(D, D).to(x)(x)"), "ignores-given-layers"),
    ("project", "return q_proj(x), k_proj(x), F.dropout(v_proj(x), 0.9)", "dropout-always-on"),
    ("MultiHeadAttention", begun("q = F.dropout(q, 0.1)"), "dropout-always-on"),
    # A mask's `.bool()` loses no digits.
    ("MultiHeadAttention", weighed("w = torch.where(w < 0.01, 0, w)"), None),
    ("MultiHeadAttention", weighed("w = (w * 1000).round() / 1000"), None),
    ("MultiHeadAttention", weighed("w = w.clamp(min=1e-4)"), None),
    ("MultiHeadAttention", weighed("w = w.half().to(x)"), "dtype-changed"),
    ("MultiHeadAttention", weighed("w = w.to(torch.bfloat16).to(x.dtype)"), "dtype-changed"),
    ("attend", "return weights.round(decimals=3) @ v.to(v.dtype)", None),
    # Masks fail in more than one way, and NaN looks like any other NaN.
    ("MultiHeadAttention", of_class(mask=ADDED.replace("T, T", "self.num_heads, self.num_heads")),
     "mask-of-head-count"),
    ("MultiHeadAttention", of_class(mask=ADDED.replace("T, T", "self.d_head, self.d_head")), None),
    ("MultiHeadAttention", of_class(mask=ADDED.replace("T, T", "B, T, T")),
     "mask-broadcast-batch-heads"),
    ("masked_softmax", f"{SCORED}\ne = (s - s.mean(-1, keepdim=True)).exp()\n{SHARED}", None),
    ("masked_softmax", f"{SCORED}\ne = (s - s.amin(-1, keepdim=True)).exp()\n{SHARED}", None),
    ("masked_softmax", f"{SCORED.replace('+', '-')}\nreturn s.softmax(-1)", "mask-sign"),
    ("MultiHeadAttention", masked("s = s - s.mean(-1, keepdim=True)"), None),
    # A factor that is no scale.
    ("project", "return -q_proj(x), k_proj(x), v_proj(x)", None),
    ("project", "return 2 * q_proj(x), k_proj(x), v_proj(x)", None),
    # Numbers and forms that no one implementation stands for.
    ("masked_softmax", f"{POWERS}\nreturn e / (e.sum(-1, keepdim=True) + 5e-4)", "softmax-eps"),
    ("masked_softmax", f"{SCORED}\ne = s.exp()\nreturn e / (e.sum(-1, keepdim=True) + 0.3)",
     "softmax-eps"),
    (
        "causal_mask",
        "i = torch.arange(T, device=device, dtype=dtype)\n"
        "return (i - i[:, None]).clamp(min=0) * -1e4",
        None,
    ),
    ("masked_softmax", f"{KEPT}\nfits = mask is not None and len(mask) == scores.size(-1)\n"
     "return (scores + mask if fits else scores).softmax(-1)", "stale-cache"),
    ("merge_heads", "return x.contiguous().view(x.size(0), -1, x.size(2)).mT",
     "merge-without-transpose"),
    ("project", "return q_proj(x).transpose(0, 1), k_proj(x), v_proj(x)", "batch-first-confusion"),
]  # fmt: skip
HIDDEN = [
    # Large scores go wrong in other ways than by a mask's finite number.
    ("masked_softmax", f"scores = scores.clamp(-50, 50)\n{SCORED}\nreturn s.softmax(-1)", None),
    ("masked_softmax", f"{SCORED}\nw = s.softmax(-1)\nreturn w.round() if s.max() > 50 else w",
     None),
    ("masked_softmax", f"{SCORED}\ne = s.exp()\n{SHARED.replace('e /', 'torch.nan_to_num(e /')})",
     "softmax-overflow"),
    ("masked_softmax",
     f"{SCORED}\ne = (s - s.max()).exp()\nreturn e / (e.sum(-1, keepdim=True) + 1e-30)",
     "softmax-overflow"),
    ("MultiHeadAttention", scored("s = s.clamp(-50, 50)"), None),
    ("MultiHeadAttention", begun("q = F.normalize(q, dim=-1) if q.abs().max() > 100 else q"),
     None),
    ("MultiHeadAttention", masked("s = s.clamp(min=-9e5)"), "mask-finite-value"),
    ("masked_softmax", "w = scores.softmax(-1) * (1 if mask is None else mask.exp())\n"
     "return (w / w.sum(-1, keepdim=True)).nan_to_num(0)", None),
    # A size of 1 fails for more reasons than `squeeze`.
    ("split_heads", f"assert num_heads > 1\nreturn {SPLIT}", None),
    ("merge_heads", "return x.transpose(1, 2).flatten(2).squeeze()", "squeeze-drops-dims"),
]  # fmt: skip


@pytest.mark.parametrize("hidden", [False, True])
@pytest.mark.parametrize(("step", "source", "slug"), BOTH)
def test_names_are_true(step, source, slug, hidden):
    assert mistake(step, source, hidden=hidden).misconception == slug


@pytest.mark.parametrize(("step", "source", "slug"), HIDDEN)
def test_names_of_what_hidden_trials_show_are_true(step, source, slug):
    assert mistake(step, source, hidden=True).misconception == slug


WHOLE = {
    "one parameter": (
        "causal_mask",
        "def causal_mask(T):\n    return torch.full((T, T), -math.inf).triu(1)",
        None,
        "asked for: `causal_mask(T, device=None, dtype=None)`",
    ),
    "parameters exchanged": (
        "causal_mask",
        "def causal_mask(T, dtype=None, device=None):\n"
        "    return torch.full((T, T), -math.inf, device=device, dtype=dtype).triu(1)",
        None,
        "",
    ),
    "a stub": ("attend", "def attend(weights, v):\n    raise NotImplementedError", None, "written"),
    "a typo in forward": (
        "MultiHeadAttention",
        RIGHT.replace("def forward", "def foward"),
        None,
        "it has no `forward`",
    ),
    "forward inside another method": (
        "MultiHeadAttention",
        FORWARD.sub(lambda found: indent(found[0], "    "), RIGHT),
        None,
        "it has no `forward`",
    ),
    "tied layers": (
        "MultiHeadAttention",
        RIGHT.replace(VALUES, "self.v_proj, self.out_proj = self.k_proj,"),
        "shared-projection",
        "one and the same",
    ),
    "one layer three times": (
        "MultiHeadAttention",
        RIGHT.replace(QUERIES, "self.q_proj, self.k_proj, same = [nn.Linear(d_model, d_model)] * 3")
        .replace(VALUES, "self.v_proj, self.out_proj = same,"),
        "shared-projection",
        "one and the same",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("step", "text", "slug", "told"), WHOLE.values(), ids=WHOLE)
def test_names_of_whole_answers_are_true(step, text, slug, told, monkeypatch):
    found = in_cell(step, f"from torch import nn\n{text}", monkeypatch)
    assert found.misconception == slug
    assert told in " ".join(str(found).split())


def in_cell(step, text, monkeypatch, **left_behind):
    """The Mistake of an answer that was typed into a cell, whose lines can be quoted."""
    lines = (len(text), None, text.splitlines(keepends=True), f"<{step}>")
    monkeypatch.setitem(linecache.cache, f"<{step}>", lines)
    return verdict(step, written(text, step, **left_behind), hidden=True)


@pytest.mark.parametrize(
    ("step", "signature", "body", "number", "slug"),
    [
        ("masked_softmax", "scores, mask=None",
         "(scores if mask is None else scores.masked_fill(mask < 0, N)).softmax(-1).cumsum(-1)",
         -1e9, None),
        ("attention_scores", "q, k", "(q - q.mean(-1, keepdim=True)) @ k.mT / q.size(-1)**N", 0.5,
         None),
        ("attention_scores", "q, k", "q @ k.mT / (q.size(-1) // N)", 2, "operator-precedence"),
        ("attention_scores", "q, k", "q @ k.mT / math.sqrt(N)", 10, "uses-notebook-globals"),
        ("split_heads", "x, num_heads", f"{SPLIT}.flip(N)", 2, None),
        ("split_heads", "x, num_heads", "x.unflatten(-1, (num_heads, N)).transpose(1, 2)", 4,
         "uses-notebook-globals"),
        ("split_heads", "x, num_heads", "x.reshape(9, N, 3, 11)", 10, None),
        ("merge_heads", "x", "torch.cat(x.unbind(1), N).flip(1)", -1, None),
        ("causal_mask", "T, device=None, dtype=None",
         "torch.full((N, N), -math.inf, device=device, dtype=dtype).triu(1)", 3,
         "uses-notebook-globals"),
    ],
)  # fmt: skip
def test_a_number_of_the_notebook_is_blamed_for_sizes_alone(
    step, signature, body, number, slug, monkeypatch
):
    text = f"def {step}({signature}):\n    return {body}"
    assert in_cell(step, text, monkeypatch, N=number).misconception == slug


@pytest.mark.parametrize(
    ("body", "slug"),
    [
        (scored("s = s * torch.ones(1, dtype=x.dtype)"), None),
        (begun("q = q + torch.zeros(T, D, dtype=x.dtype)"), None),
        (of_class(mask="mask = torch.ones(T, T).triu(1).bool() & causal\n"
                       "s = s.masked_fill(mask, -math.inf)"), None),
        (masked("").replace(", device=x.device", ""), "mask-wrong-device"),
    ],
)  # fmt: skip
def test_a_mask_is_blamed_for_its_device_alone(body, slug, monkeypatch):
    lines = "\n".join(f"        {line}" for line in body.splitlines())
    text = "from torch import nn\n" + CLASS.format(body=lines)
    assert in_cell("MultiHeadAttention", text, monkeypatch).misconception == slug


def test_a_class_that_cannot_be_made_has_no_wrong_default():
    text = CLASS.format(body="        return x").replace("num_heads):", "num_heads, dropout):")
    assert verdict("MultiHeadAttention", written(text, "MultiHeadAttention")).misconception is None


@pytest.mark.parametrize(
    ("step", "source", "told"),
    [
        ("masked_softmax", f"if scores > 1e5:\n    return scores\n{SCORED}\nreturn s.softmax(-1)",
         "A condition asks a whole tensor whether it is true"),
        ("project", "x = x.view(-1, 1).view(x.shape)\nreturn q_proj(x), k_proj(x), v_proj(x)",
         "What comes from a transpose or is a slice"),
        ("masked_softmax", f"{SCORED}\ne = s.exp()\nreturn e / (1 + e.sum(-1, keepdim=True))",
         "with the row's largest score taken off"),
        ("split_heads", "d = x.size(-1) // num_heads\n"
         "return torch.stack([x[..., i : i + d] for i in range(num_heads)], 1)", NOT_WHY),
    ],
)  # fmt: skip
def test_words_claim_no_more_than_was_seen(step, source, told):
    assert told in mistake(step, source, hidden=True).means
