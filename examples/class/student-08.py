"""A mask that closes the diagonal, a mask after softmax, and a class that forgets out_proj."""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F


# %% project
def project(x, q_proj, k_proj, v_proj):
    return q_proj(x), k_proj(x), v_proj(x)


# %% split_heads
def split_heads(x, num_heads):
    B, T, d_model = x.shape
    return x.view(B, T, num_heads, d_model // num_heads).transpose(1, 2)


# %% attention_scores
def attention_scores(q, k):
    return q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))


# %% causal_mask
def causal_mask(T, device=None, dtype=None):
    return torch.full((T, T), float("-inf"), device=device, dtype=dtype).triu(0)


# %% masked_softmax
def masked_softmax(scores, mask=None):
    weights = F.softmax(scores, dim=-1)
    if mask is not None:
        weights = weights.masked_fill(mask < 0, 0.0)
    return weights


# %% attend
def attend(weights, v):
    return weights @ v


# %% merge_heads
def merge_heads(x):
    B, H, T, d_head = x.shape
    return x.transpose(1, 2).contiguous().view(B, T, H * d_head)


# %% MultiHeadAttention
class MultiHeadAttention(nn.Module):
    """Multi-head self-attention."""

    def __init__(self, d_model, num_heads):
        super().__init__()
        if num_heads < 1 or d_model % num_heads:
            raise ValueError(f"{num_heads} heads cannot share {d_model} features equally")
        self.d_model = d_model
        self.num_heads = num_heads
        self.d_head = d_model // num_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.out_proj = nn.Linear(d_model, d_model)

    def forward(self, x, causal=False):
        q, k, v = project(x, self.q_proj, self.k_proj, self.v_proj)
        q = split_heads(q, self.num_heads)
        k = split_heads(k, self.num_heads)
        v = split_heads(v, self.num_heads)
        mask = causal_mask(x.size(1), x.device, x.dtype) if causal else None
        weights = masked_softmax(attention_scores(q, k), mask)
        return merge_heads(attend(weights, v))


# %% fault
my_number = 7
fault = "axis"


# %% MendedAttention
class MendedAttention(MultiHeadAttention):
    pass
