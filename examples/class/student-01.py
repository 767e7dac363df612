"""All right, written with einsum; the class does it all by itself."""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F

from attention_lab.stranger import Layer


# %% project
def project(x, q_proj, k_proj, v_proj):
    return q_proj(x), k_proj(x), v_proj(x)


# %% split_heads
def split_heads(x, num_heads):
    return torch.einsum("bthd->bhtd", x.unflatten(-1, (num_heads, -1)))


# %% attention_scores
def attention_scores(q, k):
    return torch.einsum("bhid,bhjd->bhij", q, k) * q.shape[-1] ** -0.5


# %% causal_mask
def causal_mask(T, device=None, dtype=None):
    later = torch.ones(T, T, dtype=torch.bool, device=device).triu(1)
    return torch.zeros(T, T, device=device, dtype=dtype).masked_fill(later, float("-inf"))


# %% masked_softmax
def masked_softmax(scores, mask=None):
    if mask is not None:
        scores = scores + mask
    return F.softmax(scores, dim=-1)


# %% attend
def attend(weights, v):
    return torch.einsum("bhij,bhjd->bhid", weights, v)


# %% merge_heads
def merge_heads(x):
    return torch.einsum("bhtd->bthd", x).flatten(2)


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
        shape = (*x.shape[:2], self.num_heads, self.d_head)
        q, k, v = (proj(x).view(shape) for proj in (self.q_proj, self.k_proj, self.v_proj))
        scores = torch.einsum("bihd,bjhd->bhij", q, k) * self.d_head**-0.5
        if causal:
            later = torch.ones(scores.shape[-2:], dtype=torch.bool, device=x.device).triu(1)
            scores = scores.masked_fill(later, float("-inf"))
        out = torch.einsum("bhij,bjhd->bihd", scores.softmax(-1), v)
        return self.out_proj(out.flatten(2))


# %% fault
my_number = 7
fault = "axis"


# %% MendedAttention
class MendedAttention(Layer):
    def forward(self, x, causal=False):
        B, T, _ = x.shape
        projections = (self.q_proj, self.k_proj, self.v_proj)
        q, k, v = (proj(x) for proj in projections)
        q, k, v = (
            part.view(B, T, self.num_heads, self.d_head).transpose(1, 2) for part in (q, k, v)
        )
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_head)
        future = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(diagonal=1)
        if causal:
            scores = scores.masked_fill(future, -math.inf)
        weights = scores.softmax(dim=-1)
        mixed = (weights @ v).transpose(1, 2).reshape(B, T, self.d_model)
        return self.out_proj(mixed)
