"""Random right answers: programs put together from right building blocks.

Every block is an expression of the variables of its layout. The sizes B, T, H, d (and d_model) are
known in every program; heads lie in one of four layouts:

    heads   (B, H, T, d)     beside the batch, as the lesson does
    first   (H, B, T, d)     before the batch
    flat    (B * H, T, d)    one batch of all heads, for bmm
    time    (B, T, H, d)     behind the time, for einsum
"""

import itertools
import random
import re
import textwrap
from dataclasses import dataclass

from attention_lab.check import STEPS

# (B, T, d_model) -> the layout
SPLIT = {
    "heads": (
        "{x}.view(B, T, H, d).transpose(1, 2)",
        "{x}.reshape(B, T, H, d).permute(0, 2, 1, 3)",
        "{x}.unflatten(-1, (H, d)).transpose(1, 2)",
        "{x}.unflatten(2, (-1, d)).movedim(2, 1).contiguous()",
        "einops.rearrange({x}, 'b t (h d) -> b h t d', h=H)",
        "torch.stack({x}.chunk(H, dim=-1), dim=1)",
        "torch.stack({x}.split(d, dim=2), 1)",
        "torch.stack(torch.tensor_split({x}, H, dim=-1)).transpose(0, 1)",
        "{x}.contiguous().as_strided((B, H, T, d), (T * H * d, d, H * d, 1))",
        "{x}.unfold(2, d, d).transpose(1, 2)",
        "torch.einsum('bthd->bhtd', {x}.reshape(B, T, H, d))",
        "{x}.mT.reshape(B, H, d, T).mT",
        "torch.swapaxes({x}.reshape(B, T, H, d), 2, 1)",
        "{x}[..., torch.arange(H * d, device={x}.device).view(H, d)].transpose(1, 2)",
    ),
    "first": (
        "{x}.reshape(B, T, H, d).permute(2, 0, 1, 3)",
        "torch.stack({x}.chunk(H, dim=-1))",
        "einops.rearrange({x}, 'b t (h d) -> h b t d', d=d)",
        "{x}.unflatten(-1, (H, d)).movedim(2, 0)",
    ),
    "flat": (
        "{x}.reshape(B, T, H, d).transpose(1, 2).reshape(B * H, T, d)",
        "einops.rearrange({x}, 'b t (h d) -> (b h) t d', h=H)",
        "{x}.unflatten(-1, (H, d)).transpose(1, 2).flatten(0, 1)",
        "torch.stack({x}.chunk(H, dim=-1), dim=1).view(-1, T, d)",
    ),
    "time": (
        "{x}.reshape(B, T, H, d)",
        "{x}.unflatten(-1, (H, d))",
        "einops.rearrange({x}, 'b t (h d) -> b t h d', h=H)",
    ),
}

# q and k of a layout -> (..., T, T)
DOT = {
    "heads": (
        "q @ k.transpose(-2, -1)",
        "q @ k.mT",
        "torch.matmul(q, k.transpose(2, 3))",
        "torch.einsum('bhid,bhjd->bhij', q, k)",
        "torch.einsum('...id,...jd->...ij', q, k)",
        "(k @ q.mT).mT",
        "(q.unsqueeze(3) * k.unsqueeze(2)).sum(-1)",
        "einops.einsum(q, k, 'b h i d, b h j d -> b h i j')",
    ),
    "first": ("q @ k.mT", "torch.einsum('hbid,hbjd->hbij', q, k)"),
    "flat": (
        "torch.bmm(q, k.transpose(1, 2))",
        "q.bmm(k.mT)",
        "torch.einsum('nid,njd->nij', q, k)",
    ),
    "time": (
        "torch.einsum('bihd,bjhd->bhij', q, k)",
        "q.transpose(1, 2) @ k.permute(0, 2, 3, 1)",
    ),
}

# Where the scale goes: what is done to q, to k, to the scores.
SCALE = (
    ("q", "k", "({s}) / math.sqrt(d)"),
    ("q", "k", "({s}) * d**-0.5"),
    ("q", "k", "({s}).mul(1 / d**0.5)"),
    ("q", "k", "torch.div({s}, torch.tensor(d, dtype=q.dtype, device=q.device).sqrt())"),
    ("q / math.sqrt(d)", "k", "{s}"),
    ("q", "k * d**-0.5", "{s}"),
    ("q / d**0.25", "k / d**0.25", "{s}"),
    ("q * d**-0.25", "k * math.pow(d, -0.25)", "{s}"),
)

# (T, T) additive, on `device` and of `dtype`
ADDITIVE = (
    "torch.full((T, T), -math.inf, device=device, dtype=dtype).triu(1)",
    "torch.triu(torch.full((T, T), float('-inf'), dtype=dtype, device=device), diagonal=1)",
    "torch.zeros(T, T, device=device, dtype=dtype).masked_fill("
    "torch.ones(T, T, device=device).triu(1).bool(), -math.inf)",
    "torch.ones(T, T, device=device, dtype=dtype).tril().log()",
    "torch.full((T, T), -1e9, device=device, dtype=dtype).triu(1)",
    "torch.full((T, T), torch.finfo(dtype or torch.get_default_dtype()).min, device=device, "
    "dtype=dtype).triu(1)",
    "torch.where(torch.arange(T, device=device) > torch.arange(T, device=device)[:, None], "
    "torch.tensor(-math.inf, device=device, dtype=dtype), "
    "torch.tensor(0.0, device=device, dtype=dtype))",
    "nn.Transformer.generate_square_subsequent_mask(T, device=device, dtype=dtype)",
)

# (T, T) boolean, True where a token may not look
BLOCKED = (
    "torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1)",
    "torch.arange(T, device=x.device)[None, :] > torch.arange(T, device=x.device)[:, None]",
    "~torch.tril(torch.ones(T, T, device=x.device)).bool()",
    "torch.ones(T, T, device=x.device).tril() == 0",
)

# Scores where `blocked` is put to use
BLOCK = (
    "s.masked_fill(blocked, -math.inf)",
    "s.masked_fill(blocked, torch.finfo(s.dtype).min)",
    "s.masked_fill(blocked, -1e9)",
    "torch.where(blocked, float('-inf'), s)",
    "torch.where(~blocked, s, torch.full_like(s, -1e30))",
    "s + torch.zeros_like(s).masked_fill(blocked, -math.inf)",
)

SOFTMAX = (
    "torch.softmax(s, dim=-1)",
    "F.softmax(s, dim=-1)",
    "s.softmax(-1)",
    "nn.Softmax(dim=-1)(s)",
    "F.softmax(s, -1, dtype=torch.float64).to(s.dtype)",
    "torch.exp(s - torch.logsumexp(s, dim=-1, keepdim=True))",
    "F.log_softmax(s, dim=-1).exp()",
    "torch.softmax(s.mT, dim=-2).mT",
    "(lambda e: e / e.sum(-1, keepdim=True))(torch.exp(s - s.amax(-1, keepdim=True)))",
    "(lambda e: e / e.sum(dim=-1)[..., None])((s - s.max(-1, keepdim=True).values.detach()).exp())",
)

# weights w and v of a layout -> the layout
MIX = {
    "heads": (
        "w @ v",
        "torch.matmul(w, v)",
        "torch.einsum('bhij,bhjd->bhid', w, v)",
        "(v.mT @ w.mT).mT",
        "(w.unsqueeze(-1) * v.unsqueeze(2)).sum(3)",
        "einops.einsum(w, v, 'b h i j, b h j d -> b h i d')",
        "torch.bmm(w.flatten(0, 1), v.flatten(0, 1)).view(v.shape)",
    ),
    "first": ("w @ v", "torch.einsum('hbij,hbjd->hbid', w, v)"),
    "flat": ("torch.bmm(w, v)", "w @ v", "torch.baddbmm(torch.zeros_like(v), w, v)"),
    "time": ("torch.einsum('bhij,bjhd->bihd', w, v)", "(w @ v.transpose(1, 2)).transpose(1, 2)"),
}

# the layout -> (B, T, d_model)
MERGE = {
    "heads": (
        "o.transpose(1, 2).reshape(B, T, H * d)",
        "o.transpose(1, 2).contiguous().view(B, T, -1)",
        "o.permute(0, 2, 1, 3).flatten(2)",
        "o.movedim(1, 2).flatten(start_dim=-2)",
        "einops.rearrange(o, 'b h t d -> b t (h d)')",
        "torch.cat(o.unbind(1), dim=-1)",
        "torch.einsum('bhtd->bthd', o).reshape(B, T, H * d)",
        "o.mT.reshape(B, H * d, T).mT",
        "torch.stack(o.unbind(dim=1), dim=2).view(B, T, H * d)",
    ),
    "first": (
        "o.permute(1, 2, 0, 3).reshape(B, T, H * d)",
        "torch.cat(o.unbind(0), dim=-1)",
        "einops.rearrange(o, 'h b t d -> b t (h d)')",
    ),
    "flat": (
        "o.view(B, H, T, d).transpose(1, 2).reshape(B, T, H * d)",
        "einops.rearrange(o, '(b h) t d -> b t (h d)', h=H)",
        "o.unflatten(0, (B, H)).transpose(1, 2).flatten(2)",
    ),
    "time": (
        "o.reshape(B, T, H * d)",
        "o.flatten(2)",
        "einops.rearrange(o, 'b t h d -> b t (h d)')",
    ),
}

# x and three layers -> q, k, v
PROJECT = (
    "{q}(x), {k}(x), {v}(x)",
    "[layer(x) for layer in ({q}, {k}, {v})]",
    "F.linear(x, torch.cat([{q}.weight, {k}.weight, {v}.weight]), "
    "torch.cat([{q}.bias, {k}.bias, {v}.bias])).chunk(3, dim=-1)",
    "F.linear(x, torch.cat([{q}.weight, {k}.weight, {v}.weight]), "
    "torch.cat([{q}.bias, {k}.bias, {v}.bias])).split(x.shape[-1], dim=-1)",
    "torch.einsum('btc,noc->nbto', x, torch.stack([{q}.weight, {k}.weight, {v}.weight])) "
    "+ torch.stack([{q}.bias, {k}.bias, {v}.bias])[:, None, None]",
    "x @ {q}.weight.T + {q}.bias, x @ {k}.weight.mT + {k}.bias, "
    "x.matmul({v}.weight.t()) + {v}.bias",
    "F.linear(x, {q}.weight, {q}.bias), F.linear(x, {k}.weight) + {k}.bias, {v}.forward(x)",
    "tuple(map(lambda layer: layer(x), [{q}, {k}, {v}]))",
)

# (B, T, d_model) called y -> the output
OUT = (
    "self.out_proj(y)",
    "F.linear(y, self.out_proj.weight, self.out_proj.bias)",
    "y @ self.out_proj.weight.T + self.out_proj.bias",
    "torch.einsum('btc,oc->bto', y, self.out_proj.weight) + self.out_proj.bias",
)

# The heads' outputs o -> the output, without merging first
OUT_BY_HEAD = {
    "heads": "torch.einsum('bhtd,ohd->bto', o, {w}) + self.out_proj.bias",
    "first": "torch.einsum('hbtd,ohd->bto', o, {w}) + self.out_proj.bias",
    "flat": "torch.einsum('bhtd,ohd->bto', o.view(B, H, T, d), {w}) + self.out_proj.bias",
    "time": "torch.tensordot(o, {w}, dims=([2, 3], [1, 2])) + self.out_proj.bias",
}
WEIGHT_BY_HEAD = (
    "self.out_proj.weight.view(-1, H, d)",
    "self.out_proj.weight.unflatten(1, (H, d))",
)

SIZES_OF_X = (
    "B, T, d_model = x.shape",
    "B, T, d_model = x.size()",
    "B, T, d_model = x.size(0), x.size(1), x.size(-1)",
    "(B, T), d_model = x.shape[:2], x.shape[-1]",
)
SIZES_OF_HEADS = (
    "B, H, T, d = {x}.shape",
    "B, H, T, d = {x}.size()",
    "(B, H), (T, d) = {x}.shape[:2], {x}.shape[2:]",
)
INIT = """
def __init__(self, d_model, num_heads):
    super().__init__()
    self.d_model, self.num_heads, self.d_head = d_model, num_heads, d_model // num_heads
    self.q_proj = nn.Linear(d_model, d_model)
    self.k_proj = nn.Linear(d_model, d_model)
    self.v_proj = nn.Linear(d_model, d_model)
    self.out_proj = nn.Linear(d_model, d_model)
"""


@dataclass(frozen=True)
class Answer:
    step: str
    source: str


class Composer:
    """Puts right answers together at random, the same ones for the same seed."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def answer(self, step) -> Answer:
        source = getattr(self, step)()
        imported = "import einops\n" if "einops." in source else ""
        return Answer(step, imported + source)

    def sample(self, count) -> list[Answer]:
        """Return `count` distinct answers, half of them classes."""
        steps = itertools.cycle((*STEPS, *["MultiHeadAttention"] * 6))
        distinct = {}
        while len(distinct) < count:
            distinct.setdefault(self.answer(next(steps)))
        return list(distinct)

    def one(self, options):
        return self.random.choice(options)

    # --- functions ---

    def project(self):
        expression = self.one(PROJECT).format(q="q_proj", k="k_proj", v="v_proj")
        return self.one(
            (
                _function("project(x, q_proj, k_proj, v_proj)", f"return {expression}"),
                _function(
                    "project(x, q_proj, k_proj, v_proj)",
                    f"q, k, v = {expression}",
                    "return q, k, v",
                ),
            )
        )

    def split_heads(self):
        return _function(
            "split_heads(x, num_heads)",
            self.one(SIZES_OF_X),
            self.one(("H, d = num_heads, d_model // num_heads", "d = d_model // (H := num_heads)")),
            f"return {self.one(SPLIT['heads']).format(x='x')}",
        )

    def attention_scores(self):
        q, k, scaled = self.one(SCALE)
        return _function(
            "attention_scores(q, k)",
            self.one(SIZES_OF_HEADS).format(x="q"),
            f"q, k = {q}, {k}",
            f"return {scaled.format(s=self.one(DOT['heads']))}",
        )

    def causal_mask(self):
        body = self.one(("return {m}", "mask = {m}\nreturn mask")).format(m=self.one(ADDITIVE))
        return _function("causal_mask(T, device=None, dtype=None)", body)

    def masked_softmax(self):
        blocked = self.one(("mask < -1", "mask != 0", "torch.isneginf(mask)", "mask == -math.inf"))
        masked = self.one(
            (
                "s = s + mask",
                "s = torch.add(mask, s)",
                *(f"blocked = {blocked}\ns = {block}" for block in BLOCK),
            )
        )
        softmax = self.one(SOFTMAX)
        body = self.one(
            (
                f"if mask is not None:\n{textwrap.indent(masked, '    ')}",
                f"if mask is None:\n    return {softmax}\n{masked}",
                f"mask = torch.zeros_like(s) if mask is None else mask\n{masked}",
            )
        )
        return _function("masked_softmax(s, mask=None)", body, f"return {softmax}")

    def attend(self):
        return _function("attend(w, v)", f"return {self.one(MIX['heads'])}")

    def merge_heads(self):
        return _function(
            "merge_heads(o)",
            self.one(SIZES_OF_HEADS).format(x="o"),
            f"return {self.one(MERGE['heads'])}",
        )

    # --- the class ---

    def MultiHeadAttention(self):
        return self.one((self._of_functions, self._in_one_piece, self._mapped_over_heads))()

    def _of_functions(self):
        """A class that calls functions or methods of its own, as the lesson does."""
        functions = [getattr(self, step)() for step in STEPS if step != "MultiHeadAttention"]
        forward = _function(
            "forward(self, x, causal=False)",
            "q, k, v = project(x, self.q_proj, self.k_proj, self.v_proj)",
            "q, k, v = (split_heads(part, self.num_heads) for part in (q, k, v))",
            "mask = causal_mask(x.shape[1], x.device, x.dtype) if causal else None",
            "w = masked_softmax(attention_scores(q, k), mask)",
            f"y = merge_heads(attend(w, v))\nreturn {self.one(OUT)}",
        )
        return "\n\n".join([*functions, _class(forward)])

    def _in_one_piece(self):
        layout = self.one(tuple(SPLIT))
        core = self._core(layout)
        return _class(_function("forward(self, x, causal=False)", self._before(layout), core))

    def _mapped_over_heads(self):
        """One head written down, vmap for the rest."""
        q, k, scaled = self.one(SCALE)
        head = _function(
            "head(q, k, v)",
            f"q, k = {q}, {k}",
            f"s = {scaled.format(s=self.one(DOT['flat']))}",
            self._masking(),
            f"w = {self.one(SOFTMAX)}",
            f"return {self.one(MIX['flat'])}",
        )
        axis = self.one((0, 1))
        layout = ("first", "heads")[axis]
        forward = _function(
            "forward(self, x, causal=False)",
            self._before(layout),
            head,
            f"o = torch.vmap(head, in_dims={axis}, out_dims={axis})(q, k, v)",
            self._after(layout),
        )
        return _class(forward)

    def _before(self, layout):
        """From x to q, k and v in a layout."""
        projected = self.one(PROJECT).format(q="self.q_proj", k="self.k_proj", v="self.v_proj")
        split = self.one(SPLIT[layout])
        both = (
            f"q, k, v = ({split.format(x='part')} for part in (q, k, v))",
            "\n".join(f"{name} = {self.one(SPLIT[layout]).format(x=name)}" for name in "qkv"),
        )
        return "\n".join(
            (
                self.one(SIZES_OF_X),
                self.one(
                    ("H, d = self.num_heads, self.d_head", "H = self.num_heads\nd = d_model // H")
                ),
                f"q, k, v = {projected}",
                self.one(both),
            )
        )

    def _core(self, layout):
        q, k, scaled = self.one(SCALE)
        return "\n".join(
            (
                f"q, k = {q}, {k}",
                f"s = {scaled.format(s=self.one(DOT[layout]))}",
                self._masking(),
                f"w = {self.one(SOFTMAX)}",
                f"o = {self.one(MIX[layout])}",
                self._after(layout),
            )
        )

    def _masking(self):
        additive = self.one(ADDITIVE).replace("device=device", "device=x.device")
        additive = re.sub(r"\bdtype\b(?!=)", "x.dtype", additive)
        blocked = f"blocked = {self.one(BLOCKED)}"
        return self.one(
            (
                f"if causal:\n    s = s + {additive}",
                f"mask = {additive} if causal else None\nif mask is not None:\n    s = s + mask",
                f"if causal:\n    {blocked}\n    s = {self.one(BLOCK)}",
                f"{blocked}\nif causal:\n    s = {self.one(BLOCK)}",
                f"{blocked}\nblocked = blocked & causal\ns = {self.one(BLOCK)}",
            )
        )

    def _after(self, layout):
        merged = f"y = {self.one(MERGE[layout])}\nreturn {self.one(OUT)}"
        by_head = f"return {OUT_BY_HEAD[layout].format(w=self.one(WEIGHT_BY_HEAD))}"
        return self.one((merged, merged, merged, by_head))


def _function(signature, *body):
    return f"def {signature}:\n" + textwrap.indent("\n".join(body), "    ")


def _class(forward):
    methods = textwrap.indent(INIT + "\n" + forward, "    ")
    return f"class MultiHeadAttention(nn.Module):{methods}"
