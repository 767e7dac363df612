"""Checks of the lesson's stretch exercises: worth no points, judged like the graded steps.

stretch.cross_attention(cross_attention)   # prints what was checked, or raises Mistake
"""

import math

import torch
import torch.nn.functional as F

from attention_lab.check.diagnose import diagnose
from attention_lab.check.judge import judge
from attention_lab.check.probes import Draw
from attention_lab.check.references import in_float64
from attention_lab.check.words import counted
from attention_lab.observation import (
    Call,
    Observation,
    Probe,
    Request,
    decode,
    encode,
    observe_encoded,
)
from attention_lab.stub import NotWrittenYet

_SEED = 0


def cross_attention(answer) -> None:
    """Check `answer(x, memory, q_proj, k_proj, v_proj, out_proj, num_heads)`.

    x: (B, T, d_model); memory: (B, S, d_model); returns (B, T, d_model): the tokens of x look at
    those of memory.

    Raises:
        Mistake: what was seen differs from what a right answer shows.
    """
    draw = Draw(_SEED)
    calls = {
        f"{counted(T, 'query', 'queries')}, {S} keys, {d_model=}, {counted(H, 'head')}": (
            (draw.normal(B, T, d_model), draw.normal(B, S, d_model), *draw.layers(d_model), H),
            (draw.normal(B, T, d_model),),
        )
        for B, T, S, d_model, H in ((2, 3, 7, 20, 4), (3, 6, 2, 15, 5), (1, 1, 4, 6, 1))
    }
    _check("cross_attention", answer, _cross_attention, calls)


def padded_softmax(answer) -> None:
    """Check `answer(scores, lengths)`.

    scores: (B, H, T, S); lengths: (B,), how many of the S keys of each sentence are real; returns
    (B, H, T, S): weights that sum to 1 and are 0 on padding.

    Raises:
        Mistake: what was seen differs from what a right answer shows.
    """
    draw = Draw(_SEED)
    calls = {
        f"lengths {lengths} of {S} keys, {counted(H, 'head')}": (
            (draw.normal(len(lengths), H, T, S, scale=1.5), torch.tensor(lengths)),
            (draw.normal(len(lengths), H, T, S),),
        )
        for lengths, H, T, S in (([3, 5], 4, 5, 5), ([1, 7, 4], 2, 3, 7), ([6], 1, 6, 6))
    }
    _check("padded_softmax", answer, _padded_softmax, calls, constants=(1,))


def grouped_attention(answer) -> None:
    """Check `answer(q, k, v)`.

    q: (B, H, T, d_head); k, v: (B, G, T, d_head), where G divides H; returns (B, H, T, d_head):
    head h looks into group h // (H // G).

    Raises:
        Mistake: what was seen differs from what a right answer shows.
    """
    draw = Draw(_SEED)
    calls = {
        f"{H} heads in {counted(G, 'group')}, {T} tokens": (
            (draw.normal(2, H, T, d), draw.normal(2, G, T, d), draw.normal(2, G, T, d)),
            (draw.normal(2, H, T, d),),
        )
        for H, G, T, d in ((6, 2, 5, 3), (8, 4, 3, 5), (4, 1, 6, 2), (3, 3, 4, 5))
    }
    _check("grouped_attention", answer, _grouped_attention, calls)


def attend_next(answer) -> None:
    """Check `answer(q, k, v, past_k, past_v)`.

    q, k, v: (B, H, 1, d_head), of the newest token; past_k, past_v: (B, H, t, d_head), of the t
    before it, t = 0 included; returns what the newest token collects (B, H, 1, d_head), and all
    keys and all values so far (B, H, t + 1, d_head).

    Raises:
        Mistake: what was seen differs from what a right answer shows.
    """
    draw = Draw(_SEED)
    calls = {}
    for B, H, t, d in ((2, 3, 5, 4), (3, 2, 1, 5), (2, 4, 0, 3)):
        newest = [draw.normal(B, H, 1, d) for _ in range(3)]
        past = [draw.normal(B, H, t, d) for _ in range(2)]
        upstream = (newest[0], *(draw.normal(B, H, t + 1, d) for _ in range(2)))
        calls[f"{counted(t, 'token')} before, {H} heads"] = ((*newest, *past), upstream)
    _check("attend_next", answer, _attend_next, calls)


def _check(name, answer, reference, calls, constants=()):
    """Try `answer` and judge it beside `reference`. calls: about -> (arguments, upstream)."""
    probes = tuple(
        Probe(name, about, (Call(args, upstream, constants),), basic=True)
        for about, (args, upstream) in calls.items()
    )
    observations = _observe(answer, probes)
    expected = _observe(reference, tuple(in_float64(probe) for probe in probes))
    verdict = judge(probes, observations, expected)
    if any(getattr(s.got, "type", "") == "NotWrittenYet" for s in verdict.symptoms):
        raise NotWrittenYet
    if verdict.symptoms:
        raise diagnose(name, None, probes, observations, expected, verdict)
    print(f"✓ {name}: right in {len(probes)} trials.")


def _observe(answer, probes):
    return decode(observe_encoded(answer, encode(Request(probes))), tuple[Observation, ...])


def _cross_attention(x, memory, q_proj, k_proj, v_proj, out_proj, num_heads):
    split = [
        layer(source).unflatten(-1, (num_heads, -1)).transpose(1, 2)
        for layer, source in ((q_proj, x), (k_proj, memory), (v_proj, memory))
    ]
    return out_proj(F.scaled_dot_product_attention(*split).transpose(1, 2).flatten(2))


def _padded_softmax(scores, lengths):
    padding = torch.arange(scores.shape[-1]) >= lengths[:, None, None, None]
    return scores.masked_fill(padding, -math.inf).softmax(-1)


def _grouped_attention(q, k, v):
    return F.scaled_dot_product_attention(q, k, v, enable_gqa=True)


def _attend_next(q, k, v, past_k, past_v):
    keys, values = torch.cat([past_k, k], dim=-2), torch.cat([past_v, v], dim=-2)
    return F.scaled_dot_product_attention(q, keys, values), keys, values
