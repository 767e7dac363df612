"""Who looks at whom in a layer that has the lesson's interface, whoever wrote it."""

import torch

from attention_lab.example import pattern


@torch.no_grad()
def head_weights(layer, num_heads: int, x: torch.Tensor) -> torch.Tensor:
    """The weights (B, H, T, T) that follow from the layer's `q_proj` and `k_proj`, by PyTorch.

    x: (B, T, d_model), what the layer is called with. Nothing but the two projections is asked
    of the layer: a class need not keep its weights.
    """
    q, k = (
        project(x).unflatten(-1, (num_heads, -1)).transpose(1, 2)  # (B, H, T, d_head)
        for project in (layer.q_proj, layer.k_proj)
    )
    return pattern(q, k)
