"""The running example: a sentence, and four heads built by hand to do known jobs.

``the cat likes the other cat`` has two words that come twice. Each token's vector ``x`` has
``d_model = 32`` features:

====== ================================================================
 0- 7  which word it is: one of them is 1
 8-15  where it stands: one of them is 1
16-23  the same once more, in the last token only, so that it knows it
24-31  empty
====== ================================================================

Rows ``h*d_head:(h+1)*d_head`` of ``q_proj`` and ``k_proj`` belong to head ``h``. They are
filled so that a query equals the key of the token it should find, and no other:

==== ============== ============================ =========================
head job            query                        key
==== ============== ============================ =========================
0    previous token the position before          the position
1    same word      the word                     the word
2    first token    position 0, from the bias    the position
3    next token     the position after           the position
==== ============== ============================ =========================

A token with no neighbour on that side looks for itself. ``v_proj`` gives every head the word;
``out_proj`` copies what head 0 found into features 16-23 and what head 3 found into 24-31, and
adds up what heads 1 and 2 found in features 0-7. Other sentences work as well: see ``embed``.

Axes: B batch, T tokens, H heads, ``d_model = H * d_head``. No two sizes here are equal, so that
axes cannot be mistaken for each other.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

tokens = ["the", "cat", "likes", "the", "other", "cat"]
head_names = ["previous token", "same word", "first token", "next token"]
vocabulary = list(dict.fromkeys(tokens))

num_heads = len(head_names)
d_head = 8
d_model = num_heads * d_head

WORD = slice(0, 8)
POSITION = slice(8, 16)
LAST = slice(16, 24)
EMPTY = slice(24, 32)
MAX_TOKENS = 8

# A token's own score: softmax gives it 97 % of the weight among five others at zero.
_SCORE = 5.0
_GAIN = (_SCORE * d_head**0.5) ** 0.5


def head(h: int) -> slice:
    """The features, or rows of a weight, that belong to head ``h``."""
    return slice(h * d_head, (h + 1) * d_head)


def embed(words: list[str]) -> torch.Tensor:
    """A sentence as vectors, (1, T, d_model).

    Raises:
        ValueError: no word, or more than 8.
    """
    T = len(words)
    if not 1 <= T <= MAX_TOKENS:
        raise ValueError(f"The example takes 1 to {MAX_TOKENS} words; these are {T}.")
    known = list(dict.fromkeys(words))
    x = torch.zeros(1, T, d_model)
    x[0, :, WORD] = torch.eye(d_head)[[known.index(word) for word in words]]
    x[0, :, POSITION] = torch.eye(d_head)[:T]
    x[0, -1, LAST] = torch.eye(d_head)[T - 1]
    return x


def _linear() -> nn.Linear:
    """A layer of d_model in and out, all zero, that asks for no gradient."""
    layer = nn.Linear(d_model, d_model).requires_grad_(False)
    nn.init.zeros_(layer.weight)
    nn.init.zeros_(layer.bias)
    return layer


def _shift(step: int) -> torch.Tensor:
    """(d_head, d_head): takes position t to t + step, and stays within 0 to 7."""
    here = torch.arange(d_head)
    there = (here + step).clamp(0, d_head - 1)
    return torch.eye(d_head)[there].T


def _queries() -> nn.Linear:
    layer = _linear()
    here, before, after = _shift(0), _shift(-1), _shift(+1)
    layer.weight[head(0), POSITION] = _GAIN * before
    layer.weight[head(1), WORD] = _GAIN * here
    layer.bias[head(2)] = _GAIN * here[0]
    layer.weight[head(3), POSITION] = _GAIN * after
    layer.weight[head(3), LAST] = _GAIN * (here - after)
    return layer


def _keys() -> nn.Linear:
    layer = _linear()
    for h, source in enumerate((POSITION, WORD, POSITION, POSITION)):
        layer.weight[head(h), source] = _GAIN * torch.eye(d_head)
    return layer


def _values() -> nn.Linear:
    layer = _linear()
    for h in range(num_heads):
        layer.weight[head(h), WORD] = torch.eye(d_head)
    return layer


def _output() -> nn.Linear:
    layer = _linear()
    for h, target in ((0, LAST), (1, WORD), (2, WORD), (3, EMPTY)):
        layer.weight[target, head(h)] = torch.eye(d_head)
    return layer


x = embed(tokens)
q_proj, k_proj, v_proj, out_proj = _queries(), _keys(), _values(), _output()


def linear(weight: list, bias: list) -> nn.Linear:
    """A layer with these numbers, that asks for no gradient. weight: (out, in); bias: (out,)."""
    layer = nn.Linear(len(weight[0]), len(weight)).requires_grad_(False)
    layer.weight.copy_(torch.tensor(weight))
    layer.bias.copy_(torch.tensor(bias))
    return layer


# The numbers on paper: three tokens, four features, two heads. Keys and values are x itself.
paper_weight = [[1, 0, 0, 1], [0, 1, 1, 0], [0, 0, 1, 0], [1, 0, 0, 0]]
paper_bias = [0, 0, 1, 0]
paper_x = torch.tensor([[[1.0, 0, 2, 1], [0, 1, 1, 0], [2, 1, 0, 1]]])  # (B, T, d_model)
_paper_same = linear(torch.eye(4).tolist(), [0, 0, 0, 0])
paper_projections = (linear(paper_weight, paper_bias), _paper_same, _paper_same)  # q, k, v


def fill(attention: nn.Module) -> None:
    """Write the numbers of the four layers above into those of a MultiHeadAttention(32, 4)."""
    layers = {"q_proj": q_proj, "k_proj": k_proj, "v_proj": v_proj, "out_proj": out_proj}
    for name, layer in layers.items():
        getattr(attention, name).load_state_dict(layer.state_dict())


def pattern(q: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
    """Attention weights (B, H, T, T) of split ``q`` and ``k`` (B, H, T, d_head), by PyTorch.

    The values are an identity matrix, so that each output row is the row of weights itself.
    """
    return F.scaled_dot_product_attention(q, k, torch.eye(k.shape[-2]).expand(*k.shape[:-1], -1))


def two_jobs_in_one_head() -> torch.Tensor:
    """Weights (1, 1, T, T) when "previous token" and "same word" share one wide head."""
    wide = slice(0, 2 * d_head)
    return pattern(q_proj(x)[:, None, :, wide], k_proj(x)[:, None, :, wide])


def words_found(features: torch.Tensor) -> list[list[str]]:
    """For each token, the words that each run of d_head features holds, strongest first.

    ``features`` is (1, T, d_model) or (T, d_model). A word counts from half the strongest
    one upwards; a run with nothing in it is "-".
    """
    runs = features.detach().reshape(len(tokens), -1, d_head)
    return [[_words(run) for run in row] for row in runs]


def _words(run: torch.Tensor) -> str:
    strength = dict(zip(vocabulary, run.tolist(), strict=False))
    strongest = max(strength.values())
    if strongest < 0.05:
        return "-"
    loud = [word for word, value in strength.items() if value >= strongest / 2]
    return "+".join(sorted(loud, key=strength.__getitem__, reverse=True))
