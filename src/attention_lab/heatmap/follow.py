"""``follow``: one token's numbers through the learner's own functions, a step at a time.

Where each number came from is not told but tried: a tensor that holds the number of each of its
cells goes through the learner's function as well, and comes out as labels.

Axes: B batch (1 here), T tokens, H heads, ``d_model = H * d_head``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from torch import nn

from attention_lab.heatmap import page
from attention_lab.heatmap.display import bundle
from attention_lab.heatmap.explore import read_words
from attention_lab.heatmap.failure import describe
from attention_lab.heatmap.show import read_head
from attention_lab.heatmap.story import Grid, Step, story_html, story_text
from attention_lab.heatmap.story_picture import story_png
from attention_lab.heatmap.words import tell_apart

STEPS = (
    "project",
    "split_heads",
    "attention_scores",
    "causal_mask",
    "masked_softmax",
    "attend",
    "merge_heads",
)
_D_HEAD = 3
ROUNDED = "(Numbers are shown to two decimals and added up before rounding.)"
# Scores up to this size are raised to powers as they are.
_LARGE = 20


def follow(
    steps,
    tokens,
    *,
    token: int | str = -1,
    head: int = 0,
    num_heads: int = 2,
    x: torch.Tensor | None = None,
    projections: tuple[nn.Linear, nn.Linear, nn.Linear] | None = None,
    causal: bool = True,
    title: str | None = None,
) -> Walk:
    """Follow one token through the learner's own functions, step by step.

    ``steps``: the seven functions from ``project`` to ``merge_heads``, in a list, or in a dict
    by name (``globals()`` will do). ``tokens``: T words, or a sentence to split. ``token``: the
    one to follow, its place or the word. ``x``: (T, d_model) or (1, T, d_model), and
    ``projections``: the three layers ``q_proj, k_proj, v_proj``; without them, small random
    ones. A step that raises, or returns the wrong shape, ends the walk and says why.

    Raises TypeError or ValueError for missing steps and sizes that do not fit.
    """
    functions = _read_steps(steps)
    words = read_words(tokens)
    head = read_head(head, num_heads)
    drawn = x is None
    x, projections = _read_inputs(x, projections, len(words), num_heads)
    walker = _Walker(functions, words, _read_token(token, words), head, num_heads, causal, drawn)
    return Walk(title or "One token, step by step", list(walker.walk(x, projections)))


class Walk:
    """A stepper a notebook displays; in words in a terminal."""

    def __init__(self, title: str, steps: list[Step]):
        self.title = title
        self.steps = steps

    def __repr__(self):
        return f"{self.title}\n{story_text(self.steps)}"

    def _repr_mimebundle_(self, include=None, exclude=None):
        return bundle(repr(self), story_png(self.title, self.steps), self._html)

    def png(self, path) -> Path:
        """Write all steps to ``path`` as one still picture."""
        path = Path(path)
        path.write_bytes(story_png(self.title, self.steps))
        return path

    def to_html(self, path) -> Path:
        """Write the stepper to ``path``, one file that needs nothing else."""
        path = Path(path)
        path.write_text(page.document(self._html(), self.title), encoding="utf-8")
        return path

    def _html(self) -> str:
        scripts = ("dom.js", "theme.js", "follow.js")
        call = f"mountWalk(host, {page.string(self.title)})"
        return page.host(story_html(self.steps), ("heads.css", "follow.css"), scripts, call)


@dataclass(frozen=True)
class _Walker:
    """Runs the steps, and tells each one as it goes."""

    functions: dict[str, Callable]
    words: tuple[str, ...]
    token: int
    head: int
    H: int
    causal: bool
    drawn: bool

    def walk(self, x: torch.Tensor, projections) -> Iterator[Step]:
        """The steps told, up to the first that fails."""
        running = self._run(x, projections)
        while True:
            try:
                yield next(running)
            except StopIteration:
                return
            except Exception as error:
                yield Step(
                    "It stops here", "The next step gave no result.", warning=describe(error)
                )
                return

    def _run(self, x: torch.Tensor, projections) -> Iterator[Step]:
        T, H, d_head = len(self.words), self.H, x.shape[-1] // self.H
        yield _shaped(self._tell_tokens(x), "x", x)
        q, k, v = self._call("project", (x, *projections), 3 * [tuple(x.shape)])
        yield _shaped(self._tell_project(q, k, v), "each of q, k and v", q)
        heads = [self._call("split_heads", (y, H), (1, H, T, d_head)) for y in (q, k, v)]
        yield _shaped(self._tell_split(q, heads[0]), "each of q, k and v", heads[0])
        scores = self._call("attention_scores", (heads[0], heads[1]), (1, H, T, T))
        yield _shaped(self._tell_scores(*heads[:2], scores), "the scores", scores)
        mask = self._call("causal_mask", (T,), (T, T)) if self.causal else torch.zeros(T, T)
        yield _shaped(self._tell_mask(scores, mask), "the mask", mask)
        given = mask if self.causal else None
        weights = self._call("masked_softmax", (scores, given), (1, H, T, T))
        yield _shaped(self._tell_softmax(scores, mask, weights), "the weights", weights)
        output = self._call("attend", (weights, heads[2]), (1, H, T, d_head))
        yield _shaped(self._tell_attend(weights, heads[2], output), "the output", output)
        merged = self._call("merge_heads", (output,), tuple(x.shape))
        yield _shaped(self._tell_merge(output, merged), "the merged output", merged)

    def _call(self, name: str, arguments: tuple, shape):
        """What the learner's function returns, if its shape (or the shapes of a tuple) is right."""
        result = self.functions[name](*arguments)
        many = isinstance(shape, list)
        parts = list(result) if many and isinstance(result, (tuple, list)) else [result]
        if not all(isinstance(part, torch.Tensor) for part in parts):
            raise TypeError(f"{name} returned {_types(parts)}; the next step needs tensors.")
        seen = [tuple(part.shape) for part in parts]
        if seen != (shape if many else [shape]):
            listed = ", ".join(map(str, seen))
            wanted = ", ".join(map(str, shape)) if many else shape
            raise ValueError(f"{name} returned the shape {listed}; the next step needs {wanted}.")
        return [part.detach() for part in parts] if many else result.detach()

    def _tell_tokens(self, x) -> Step:
        sentence = f"x has {x.shape[-1]} features for each token. We follow those of “{self.word}”."
        if self.drawn:
            sentence += " They are drawn at random, and the weights of step 1 too."
        return Step("x", sentence, [self._by_token("x", x)])

    def _tell_project(self, q, k, v) -> Step:
        d_head = q.shape[-1] // self.H
        mine = self._slice(d_head)
        sentence = (
            "Three layers turn every token into three rows: what it looks for (q), how it can be "
            "found (k), what it hands over when found (v). Features "
            f"{mine.start} to {mine.stop - 1} will be those of head {self.head}; nothing is "
            "split yet."
        )
        grids = [self._by_token(name, y, mine) for name, y in zip("qkv", (q, k, v), strict=True)]
        return Step("project", sentence, grids)

    def _tell_split(self, q, q_heads) -> Step:
        d_model = q.shape[-1]
        cells = torch.arange(q.numel(), dtype=q.dtype).view_as(q)
        right = self._rightly_split(cells)
        came_from = self.functions["split_heads"](cells, self.H)
        straight = cells.view_as(came_from)
        wrong = bool((came_from != right).any())
        grids = [self._head_grid(h, q_heads, came_from, right, d_model) for h in range(self.H)]
        aside = [
            self._head_grid(h, q.reshape(-1)[straight.long()], straight, right, d_model)
            for h in range(self.H)
        ]
        return Step(
            "split_heads",
            "Every head gets its own slice of the features, of every token: a row still belongs to "
            "one token. Each cell says which token·feature it came from.",
            grids,
            "Beside it: view straight to (B, H, T, d_head)",
            aside,
            "Some cells came from another token or feature than they should." if wrong else "",
        )

    def _rightly_split(self, cells):
        return cells.unflatten(-1, (self.H, cells.shape[-1] // self.H)).movedim(2, 1)

    def _head_grid(self, h, values, came_from, right, d_model) -> Grid:
        origins = [[self._origin(int(c), d_model) for c in row] for row in came_from[0, h].tolist()]
        return Grid(
            f"q of head {h}",
            self.labels,
            [f"feature {i}" for i in range(values.shape[-1])],
            _array(values[0, h]),
            origins,
            np.full(values.shape[-2:], h == self.head) & self._is_token()[:, None],
            _array(came_from[0, h] != right[0, h]).astype(bool),
        )

    def _tell_scores(self, q, k, scores) -> Step:
        d_head = q.shape[-1]
        terms = _array(q[0, self.head, self.token] * k[0, self.head])  # (T, d_head)
        total = terms.sum(-1)
        mine = _array(scores[0, self.head, self.token])
        opened = total / d_head**0.5
        columns = [f"q·k {i}" for i in range(d_head)]
        return Step(
            "attention_scores",
            f"How well does the query of “{self.word}” fit the key of each token? "
            f"Multiply feature by feature, add up, divide by √{d_head}.",
            [
                Grid(
                    f"head {self.head}: q of “{self.word}” with k of every token",
                    self.labels,
                    [*columns, "sum", f"÷ √{d_head}", "your score"],
                    np.column_stack([terms, total, opened, mine]),
                    strong=_last_columns(len(terms), d_head + 3),
                )
            ],
            warning=_differs("attention_scores", mine, opened),
        )

    def _tell_mask(self, scores, mask) -> Step:
        row, score = _array(mask[self.token]), _array(scores[0, self.head, self.token])
        closed = [label for label, at in zip(self.labels, row, strict=True) if at < -1e3]
        sentence = (
            f"“{self.word}” may not look at {', '.join(closed)}: −∞ is added to the score."
            if closed
            else f"“{self.word}” may look at every token: 0 is added to each score."
        )
        values = np.stack([score, _close(row), _close(score + row)])
        rows = ["score", "mask", "score + mask"]
        grid = Grid(f"head {self.head}: the row of “{self.word}”", rows, self.labels, values)
        return Step("causal_mask", sentence, [grid])

    def _tell_softmax(self, scores, mask, weights) -> Step:
        masked = _array(scores[0, self.head, self.token] + mask[self.token])
        shift = masked.max() if np.abs(masked.max()) > _LARGE else 0
        exponential = np.exp(masked - shift)
        exp = f"exp(… − {shift:.0f}), as it is so large" if shift else "exp"
        opened = exponential / exponential.sum()
        mine = _array(weights[0, self.head, self.token])
        rows = np.stack([_close(masked), exponential, opened, mine])
        sums = np.array([np.nan, exponential.sum(), opened.sum(), mine.sum()])
        return Step(
            "masked_softmax",
            "exp makes every score positive, and −∞ zero. Divided by their sum they are weights "
            "that sum to 1.",
            [
                Grid(
                    f"head {self.head}: the row of “{self.word}”",
                    ["score + mask", exp, "÷ sum", "your weights"],
                    [*self.labels, "sum"],
                    np.column_stack([rows, sums]),
                    strong=np.arange(4)[:, None] == np.full(len(masked) + 1, 3),
                )
            ],
            warning=_differs("masked_softmax", mine, opened),
        )

    def _tell_attend(self, weights, v, output) -> Step:
        row = _array(weights[0, self.head, self.token])
        terms = row[:, None] * _array(v[0, self.head])  # (T, d_head)
        mine = _array(output[0, self.head, self.token])
        values = np.vstack([terms, terms.sum(0), mine])
        return Step(
            "attend",
            f"What “{self.word}” collects is a mixture of what the tokens hand over, each in the "
            f"share of its weight. {ROUNDED}",
            [
                Grid(
                    f"head {self.head}: weight × v of every token",
                    [*self._shares(row), "sum", "your output"],
                    [f"feature {i}" for i in range(terms.shape[1])],
                    values,
                    strong=_last_columns(terms.shape[1], len(values)).T,
                )
            ],
            warning=_differs("attend", mine, terms.sum(0)),
        )

    def _tell_merge(self, output, merged) -> Step:
        H, T, d_head = output.shape[1:]
        cells = torch.arange(output.numel(), dtype=output.dtype).view_as(output)
        came_from = self.functions["merge_heads"](cells)[0, self.token].long()
        right = cells.movedim(1, 2).flatten(2)[0, self.token].long()
        origins = [self._place(int(cell), T, d_head) for cell in came_from]
        pieces = Grid(
            f"“{self.word}” in every head",
            [f"head {h}" for h in range(H)],
            [f"feature {i}" for i in range(d_head)],
            _array(output[0, :, self.token]),
            strong=np.arange(H)[:, None] == np.full(d_head, self.head),
        )
        row = Grid(
            f"“{self.word}” merged",
            [self.word],
            [str(i) for i in range(H * d_head)],
            _array(merged[0, self.token])[None],
            [origins],
            self._in_slice(d_head)[None],
            _array(came_from != right).astype(bool)[None],
        )
        wrong = bool((came_from != right).any())
        return Step(
            "merge_heads",
            "What the heads have collected lies side by side again, head after head. Each cell "
            "says which head·feature it came from.",
            [pieces, row],
            warning="Some cells came from another head or token than they should." if wrong else "",
        )

    def _by_token(self, name: str, y, columns: slice = slice(None)) -> Grid:
        """A tensor (1, T, d_model) with a row for each token."""
        T, d_model = y.shape[1:]
        strong = np.zeros((T, d_model), bool)
        strong[self.token, columns] = True
        origins = [[f"{word}·{i}" for i in range(d_model)] for word in self.labels]
        return Grid(
            name, self.labels, [str(i) for i in range(d_model)], _array(y[0]), origins, strong
        )

    @property
    def labels(self) -> list[str]:
        return tell_apart(self.words)

    @property
    def word(self) -> str:
        return self.labels[self.token]

    def _is_token(self) -> np.ndarray:
        return np.arange(len(self.words)) == self.token

    def _slice(self, d_head: int) -> slice:
        return slice(self.head * d_head, (self.head + 1) * d_head)

    def _in_slice(self, d_head: int) -> np.ndarray:
        return np.arange(self.H * d_head) // d_head == self.head

    def _origin(self, cell: int, d_model: int) -> str:
        return f"{self.labels[cell // d_model]}·{cell % d_model}"

    def _place(self, cell: int, T: int, d_head: int) -> str:
        head, rest = divmod(cell, T * d_head)
        word, feature = divmod(rest, d_head)
        return (
            f"h{head}·{feature}" if word == self.token else f"h{head} {self.labels[word]}·{feature}"
        )

    def _shares(self, row: np.ndarray) -> list[str]:
        return [f"{weight:.2f} × {label}" for weight, label in zip(row, self.labels, strict=True)]


def _read_steps(steps) -> dict[str, Callable]:
    if not isinstance(steps, Mapping):
        steps = {getattr(step, "__name__", None): step for step in steps}
    missing = [name for name in STEPS if not callable(steps.get(name))]
    if missing:
        raise ValueError(f"follow needs all seven steps; these are missing: {', '.join(missing)}.")
    return {name: steps[name] for name in STEPS}


def _read_token(token: int | str, words: tuple[str, ...]) -> int:
    if isinstance(token, str):
        if token not in words:
            raise ValueError(f"The word {token!r} is not among the tokens: {', '.join(words)}.")
        return words.index(token)
    if not -len(words) <= token < len(words):
        raise ValueError(f"There is no token {token}: they are numbered 0 to {len(words) - 1}.")
    return token % len(words)


def _read_inputs(x, projections, T: int, num_heads: int):
    if (x is None) != (projections is None):
        raise ValueError("Pass both x and projections, or neither.")
    if x is None:
        return _draw_inputs(T, num_heads * _D_HEAD)
    if x.is_meta:
        raise ValueError("x is on the meta device, where tensors hold no numbers.")
    x = x.detach()[None] if x.ndim == 2 else x.detach()
    if x.ndim != 3 or x.shape[:2] != (1, T) or x.shape[-1] % num_heads:
        raise ValueError(
            f"x must be (1, {T}, d_model), with a d_model that {num_heads} heads divide; "
            f"this has shape {tuple(x.shape)}."
        )
    return x, projections


def _draw_inputs(T: int, d_model: int):
    """x (1, T, d_model) and three layers, always the same; the global generator stays as it is.

    With these, the scores of a row differ visibly, for up to six tokens of six features.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(96)
        x, projections = torch.randn(1, T, d_model), [nn.Linear(d_model, d_model) for _ in "qkv"]
        for layer in projections:
            nn.init.orthogonal_(layer.weight)
        return x, tuple(projections)


def _shaped(step: Step, what: str, tensor: torch.Tensor) -> Step:
    """The step, which also says what shape has come out."""
    return replace(step, sentence=f"{step.sentence} The shape of {what} is {tuple(tensor.shape)}.")


def _array(tensor: torch.Tensor) -> np.ndarray:
    return tensor.detach().cpu().double().numpy()


def _types(parts: list) -> str:
    return ", ".join(type(part).__name__ for part in parts)


def _close(row: np.ndarray) -> np.ndarray:
    """Masks as good as -inf shown as -inf."""
    return np.where(row < -1e3, -np.inf, row)


def _last_columns(rows: int, columns: int) -> np.ndarray:
    return np.tile(np.arange(columns) == columns - 1, (rows, 1))


def _differs(name: str, yours: np.ndarray, opened: np.ndarray) -> str:
    if np.allclose(yours, opened, atol=1e-4, equal_nan=True):
        return ""
    worst = int(np.nanargmax(np.abs(yours - opened)))
    return f"Your {name} gives {yours[worst]:.2f} where the terms give {opened[worst]:.2f}."
