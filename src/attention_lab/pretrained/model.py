"""all-MiniLM-L6-v2, a BERT of 6 layers and 12 heads, around any class with the lesson's interface.

Axes: B batch, T tokens, H heads, d_model = 384.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attention_lab.look import head_weights

VOCABULARY = 30522
MOST_TOKENS = 512
D_MODEL = 384
D_WIDE = 4 * D_MODEL
LAYERS = 6
HEADS = 12

# What the file calls a tensor, and what it is called here; the longer name comes first.
_NAMES = (
    ("encoder.layer.", "blocks."),
    ("embeddings.LayerNorm.", "norm."),
    ("embeddings.word_embeddings.", "words."),
    ("embeddings.position_embeddings.", "positions."),
    ("embeddings.token_type_embeddings.", "parts."),
    (".attention.self.query.", ".attention.q_proj."),
    (".attention.self.key.", ".attention.k_proj."),
    (".attention.self.value.", ".attention.v_proj."),
    (".attention.output.dense.", ".attention.out_proj."),
    (".attention.output.LayerNorm.", ".attention_norm."),
    (".intermediate.dense.", ".widen."),
    (".output.dense.", ".narrow."),
    (".output.LayerNorm.", ".norm."),
)
_UNUSED = ("embeddings.position_ids", "pooler.")


class Block(nn.Module):
    """One layer: attention, then two linear maps, each added to what came in, and normalised."""

    def __init__(self, attention: nn.Module):
        super().__init__()
        self.attention = attention
        self.attention_norm = _norm()
        self.widen = nn.Linear(D_MODEL, D_WIDE)
        self.narrow = nn.Linear(D_WIDE, D_MODEL)
        self.norm = _norm()

    def forward(self, x: Tensor) -> Tensor:
        x = self.attention_norm(x + self.attention(x))
        return self.norm(x + self.narrow(F.gelu(self.widen(x))))


class MiniLM(nn.Module):
    """The transformer. It has no padding mask: all sentences of a batch are of one length."""

    def __init__(self, attention_class: type[nn.Module], num_heads: int = HEADS):
        super().__init__()
        self.num_heads = num_heads
        self.words = nn.Embedding(VOCABULARY, D_MODEL)
        self.positions = nn.Embedding(MOST_TOKENS, D_MODEL)
        self.parts = nn.Embedding(2, D_MODEL)
        self.norm = _norm()
        self.blocks = nn.ModuleList(
            Block(attention_class(D_MODEL, num_heads)) for _ in range(LAYERS)
        )

    def fill(self, tensors: dict[str, Tensor]) -> None:
        """Take over the tensors of the file `model.safetensors`.

        Raises:
            ValueError: a tensor finds no place of its size in the attention class.
        """
        renamed = {
            _rename(name): tensor
            for name, tensor in tensors.items()
            if not name.startswith(_UNUSED)
        }
        own = self.state_dict()
        for name, tensor in renamed.items():
            if name not in own or own[name].shape != tensor.shape:
                raise ValueError(
                    f"the class has no {name.split('attention.')[-1]} of shape "
                    f"{tuple(tensor.shape)}: it needs q_proj, k_proj, v_proj and out_proj, each "
                    "an nn.Linear(d_model, d_model)"
                )
        # A class may keep more than its four layers, such as a mask in a buffer.
        self.load_state_dict(renamed, strict=False)

    def embed(self, ids: Tensor) -> Tensor:
        """Token ids (B, T) as vectors (B, T, d_model): the word, its place, and part one of two."""
        places = self.positions.weight[: ids.shape[1]]
        return self.norm(self.words(ids) + places + self.parts.weight[0])

    def forward(self, ids: Tensor) -> Tensor:
        """Token ids (B, T) to hidden states (B, T, d_model)."""
        x = self.embed(ids)
        for block in self.blocks:
            x = block(x)
        return x

    @torch.no_grad()
    def weights(self, ids: Tensor) -> Tensor:
        """Who looks at whom, in every layer: (B, LAYERS, H, T, T)."""
        x, seen = self.embed(ids), []
        for block in self.blocks:
            seen.append(head_weights(block.attention, self.num_heads, x))
            x = block(x)
        return torch.stack(seen, 1)


def _norm() -> nn.LayerNorm:
    return nn.LayerNorm(D_MODEL, eps=1e-12)


def _rename(name: str) -> str:
    for theirs, ours in _NAMES:
        name = name.replace(theirs, ours)
    return name
