"""Checks of the lesson's proofs. They are not graded, and let a learner's own errors through."""

import torch
import torch.nn.functional as F

from attention_lab.check.mistake import Mistake

_TOLERANCE = 1e-5


def one_query(answer) -> None:
    """Check `answer(query, keys, values)`: one output row of attention, from lists of floats.

    query: d numbers; keys: S rows of d numbers; values: S rows of e numbers; returns e numbers.
    Prints what was checked.

    Raises:
        Mistake: another number of outputs, or other numbers.
    """
    for S, d, e in ((1, 2, 3), (4, 3, 2), (6, 5, 4)):
        draw = torch.Generator().manual_seed(S)
        query, keys, values = (
            torch.randn(n, m, generator=draw) for n, m in ((1, d), (S, d), (S, e))
        )
        expected = F.scaled_dot_product_attention(query, keys, values)[0]
        got = answer(query[0].tolist(), keys.tolist(), values.tolist())
        _compare("one_query", f"{S} keys of {d} features, values of {e}", got, expected)
    print("✓ one_query: the same as PyTorch's attention, for 1, 4 and 6 keys.")


def one_head(answer, layer_class) -> None:
    """Check `answer(x, layer, h)`: head h of the learner's own layer, worked out by itself.

    x: (T, d_model). layer: an instance of layer_class. Returns (T, d_head): what the head has
    mixed before `out_proj`. Side by side, all heads must equal the layer's batched forward.
    Prints what was checked.

    Raises:
        Mistake: another shape, or other numbers.
    """
    for d_model, num_heads, T in ((12, 3, 5), (10, 2, 7), (6, 1, 4)):
        layer = layer_class(d_model, num_heads).requires_grad_(False)
        layer.out_proj.weight.copy_(torch.eye(d_model))
        layer.out_proj.bias.zero_()
        x = torch.randn(T, d_model, generator=torch.Generator().manual_seed(T))
        together = layer(x[None])[0].unflatten(-1, (num_heads, -1))  # (T, H, d_head)
        for h in range(num_heads):
            tried = f"head {h} of {num_heads}, d_model={d_model}, T={T}"
            _compare("one_head", tried, answer(x, layer, h), together[:, h])
    print("✓ one_head: one by one, 3, 2 and 1 heads equal your layer's batched forward.")


def _compare(name, tried, got, expected):
    try:
        got = torch.as_tensor(got, dtype=expected.dtype)
    except (TypeError, ValueError, RuntimeError):
        seen = f"tried with {tried}; {type(got).__name__} came back"
        raise Mistake(name, "shape", seen, "", "return numbers only") from None
    if got.shape != expected.shape:
        seen = f"tried with {tried}; {tuple(got.shape)} came back, not {tuple(expected.shape)}"
        raise Mistake(name, "shape", seen, "", "which loop, or which axis, is one too many?")
    difference = (got - expected).abs().max().item()
    if not difference <= _TOLERANCE:
        seen = f"tried with {tried}; the numbers differ by up to {difference:.2g}"
        raise Mistake(name, "value", seen, "", "compare with your own batched functions")
