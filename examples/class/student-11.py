"""Every answer was deleted."""

# %% project

# %% split_heads

# %% attention_scores

# %% causal_mask

# %% masked_softmax

# %% attend

# %% merge_heads

# %% MultiHeadAttention
