"""The right steps, in plain torch.

This text also stands in for a learner's own steps when their class calls them and they are wrong,
so it needs nothing but torch.
"""

import math

import torch


def project(x, q_proj, k_proj, v_proj):
    return q_proj(x), k_proj(x), v_proj(x)


def split_heads(x, num_heads):
    B, T, d_model = x.shape
    return x.reshape(B, T, num_heads, d_model // num_heads).transpose(1, 2)


def attention_scores(q, k):
    return q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])


def causal_mask(T, device=None, dtype=None):
    return torch.full((T, T), float("-inf"), device=device, dtype=dtype).triu(1)


def masked_softmax(scores, mask=None):
    if mask is not None:
        scores = scores + mask
    return torch.softmax(scores, dim=-1)


def attend(weights, v):
    return weights @ v


def merge_heads(x):
    B, H, T, d_head = x.shape
    return x.transpose(1, 2).reshape(B, T, H * d_head)
