"""``follow_query``: one query in one head, from the vectors of a few tokens to a mixture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from attention_lab.heatmap.follow import ROUNDED, Walk
from attention_lab.heatmap.story import Grid, Step


def follow_query(
    vectors: Mapping[str, Sequence[float]],
    features: Sequence[str],
    token: str,
    to_query: Sequence[Sequence[float]],
    title: str = "One query, step by step",
) -> Walk:
    """Follow the query of one token to the keys of all tokens, and back with a mixture of values.

    ``vectors``: d numbers for each of T different tokens; they are the keys and the values as well.
    ``features``: what each of the d numbers says. ``to_query``: (d, d), the weight that makes a
    query of a vector.

    Raises ValueError for a token that is not there and sizes that do not fit.
    """
    tokens, x = list(vectors), np.array(list(vectors.values()), dtype=float)
    weight, d = np.array(to_query, dtype=float), len(features)
    if token not in vectors:
        raise ValueError(f"The token {token!r} is not among the vectors: {', '.join(tokens)}.")
    if x.shape != (len(tokens), d) or weight.shape != (d, d):
        raise ValueError(
            f"There are {d} features: every vector needs {d} numbers, and to_query {d} rows of {d}."
        )
    query = weight @ x[tokens.index(token)]
    products = x * query
    scores = products.sum(1) / d**0.5
    exponentials = np.exp(scores)
    weights = exponentials / exponentials.sum()
    steps = [
        _vectors(token, tokens, features, x),
        _query(token, tokens, features, query, x),
        _scores(tokens, features, products, scores),
        _weights(tokens, scores, exponentials, weights),
        _mixture(token, tokens, features, weights, x),
    ]
    return Walk(title, steps)


def _vectors(token, tokens, features, x) -> Step:
    mine = np.repeat([name == token for name in tokens], len(features)).reshape(x.shape)
    return Step(
        "The vectors",
        f"Every token is a row of {len(features)} numbers. We follow “{token}”.",
        [Grid("x", tokens, features, x, strong=mine)],
    )


def _query(token, tokens, features, query, x) -> Step:
    return Step(
        "Query, keys, values",
        f"A learned weight turns the vector of “{token}” into its query: what it looks for. Every "
        "token also has a key, how it can be found, and a value, what it hands over. To keep it "
        "short, key and value are the vector itself here.",
        [
            Grid(f"query of “{token}”", [token], features, query[None], strong=query[None] > 0),
            Grid("keys, and values", tokens, features, x),
        ],
    )


def _scores(tokens, features, products, scores) -> Step:
    d = len(features)
    values = np.column_stack([products, products.sum(1), scores])
    return Step(
        "Scores",
        "How well does the query fit each key? Multiply feature by feature, add up, divide by "
        f"√{d}.",
        [Grid("query × key", tokens, [*features, "sum", f"÷ √{d}"], values, strong=_last(values))],
    )


def _weights(tokens, scores, exponentials, weights) -> Step:
    values = np.stack([scores, exponentials, weights])
    sums = [np.nan, exponentials.sum(), weights.sum()]
    return Step(
        "Weights",
        "Softmax: exp makes every score positive; divided by their sum they are weights that sum "
        f"to 1. {ROUNDED}",
        [
            Grid(
                "softmax",
                ["score", "exp", "÷ sum: weight"],
                [*tokens, "sum"],
                np.column_stack([values, sums]),
                strong=_last(np.column_stack([values, sums]).T).T,
            )
        ],
    )


def _mixture(token, tokens, features, weights, x) -> Step:
    parts = weights[:, None] * x
    values = np.vstack([parts, parts.sum(0)])
    shares = [f"{weight:.2f} × {name}" for weight, name in zip(weights, tokens, strict=True)]
    return Step(
        "The mixture",
        f"“{token}” receives the weighted mean of all values. {ROUNDED}",
        [Grid("weight × value", [*shares, "sum"], features, values, strong=_last(values.T).T)],
    )


def _last(values: np.ndarray) -> np.ndarray:
    """True in the last column."""
    return np.broadcast_to(np.arange(values.shape[1]) == values.shape[1] - 1, values.shape)
