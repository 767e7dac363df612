"""Checks of the lesson's proofs. They are not graded, and let a learner's own errors through."""

import torch
import torch.nn.functional as F

from attention_lab.check import catalogue
from attention_lab.check.mistake import Mistake
from attention_lab.check.words import counted

_TOLERANCE = 1e-5


def one_query(answer) -> None:
    """Check `answer(query, keys, values)`: one output row of attention, from lists of floats.

    query: d numbers; keys: S rows of d numbers; values: S rows of e numbers; returns e numbers.
    Prints what was checked.

    Raises:
        Mistake: another number of outputs, or other numbers.
    """
    cases = []
    for S, d, e in ((1, 2, 3), (4, 3, 2), (6, 5, 4)):
        draw = torch.Generator().manual_seed(S)
        query, keys, values = (
            torch.randn(n, m, generator=draw) for n, m in ((1, d), (S, d), (S, e))
        )
        expected = F.scaled_dot_product_attention(query, keys, values)[0]
        tried = f"{counted(S, 'key')} of {d} features, values of {e}"
        cases.append((tried, (query[0], keys, values), expected))
    got = [answer(*(given.tolist() for given in args)) for _, args, _ in cases]
    _judge("one_query", cases, got)
    print("✓ one_query: the same as PyTorch's attention, for 1, 4 and 6 keys.")


def one_head(answer, layer_class) -> None:
    """Check `answer(x, layer, h)`: head h of the learner's own layer, worked out by itself.

    x: (T, d_model). layer: an instance of layer_class. Returns (T, d_head): what the head has
    mixed before `out_proj`. Side by side, all heads must equal the layer's batched forward.
    Prints what was checked.

    Raises:
        Mistake: another shape, or other numbers.
    """
    cases = []
    for d_model, num_heads, T in ((12, 3, 5), (10, 2, 7), (6, 1, 4)):
        layer = layer_class(d_model, num_heads).requires_grad_(False)
        layer.out_proj.weight.copy_(torch.eye(d_model))
        layer.out_proj.bias.zero_()
        x = torch.randn(T, d_model, generator=torch.Generator().manual_seed(T))
        together = layer(x[None])[0].unflatten(-1, (num_heads, -1))  # (T, H, d_head)
        for h in range(num_heads):
            tried = f"head {h} of {num_heads}, d_model={d_model}, T={T}"
            cases.append((tried, (x, layer, h), together[:, h]))
    _judge("one_head", cases, [answer(*args) for _, args, _ in cases])
    print("✓ one_head: one by one, 3, 2 and 1 heads equal your layer's batched forward.")


def _judge(name, cases, got):
    """Raise the Mistake that results show. cases: what was tried, its arguments, what is right."""
    seen = [_difference(result, right) for result, (_, _, right) in zip(got, cases, strict=True)]
    wrong = [(tried, found) for (tried, _, _), found in zip(cases, seen, strict=True) if found]
    if not wrong:
        return
    tried, (aspect, told, look) = wrong[0]
    known = next((k for k in catalogue.of_step(name) if _made(k, cases, got)), None)
    means, look, slug = (known.means, known.look, known.slug) if known else ("", look, None)
    raise Mistake(name, aspect, f"tried with {tried}; {told}", means, look, slug)


def _difference(got, right):
    """What tells a result from the right one, as (aspect, what is seen, where to look), or None."""
    numbers = _numbers(got)
    if numbers is None:
        return "shape", f"{type(got).__name__} came back", "return numbers only"
    if numbers.shape != right.shape:
        seen = f"{tuple(numbers.shape)} came back, not {tuple(right.shape)}"
        return "shape", seen, "which loop, or which axis, is one too many?"
    difference = (numbers - right).abs().max().item()
    if not difference <= _TOLERANCE:
        seen = f"the numbers differ by up to {difference:.2g}"
        return "value", seen, "compare with your own batched functions"
    return None


def _made(known, cases, got):
    """Whether the known mistake gives the same in all cases."""
    return any(
        all(_agrees(result, faulty, args) for result, (_, args, _) in zip(got, cases, strict=True))
        for faulty in known.faulty
    )


def _agrees(result, faulty, args):
    try:
        return _difference(result, faulty(*args)) is None
    except Exception:  # a layer may lack what the lesson's has
        return False


def _numbers(got):
    try:
        return torch.as_tensor(got, dtype=torch.float32)
    except (TypeError, ValueError, RuntimeError):
        return None
