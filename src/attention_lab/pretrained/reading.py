"""What a pretrained model makes of a sentence: its tokens, its heads, its hidden states.

``Reading`` is what the lesson talks to. ``Live`` has the model; ``Stored`` has two sentences
that were read beforehand, for where the model cannot be had.
"""

from __future__ import annotations

import contextlib
import json
from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor

from attention_lab.heatmap import Heatmap, show_heads
from attention_lab.pretrained.model import D_MODEL, HEADS, LAYERS, MOST_TOKENS, MiniLM
from attention_lab.pretrained.wall import Wall, head_labels

STORED = Path(__file__).with_name("stored.json")
# Weights are stored as one printable character each: "!" is 0, "~" is 1.
LOWEST, HIGHEST = ord("!"), ord("~")
KEPT = slice(0, D_MODEL, 3)  # of the features of a state: a mistake shows in all of them


class Unreadable(ValueError):
    """A sentence that cannot be read; a notebook shows one line that says why."""

    def _render_traceback_(self):
        return [str(self)]


class Reading(ABC):
    """Reads sentences. ``live`` is True if it reads any sentence, with a learner's own class."""

    live: bool

    @abstractmethod
    def tokens(self, sentence: str) -> list[str]:
        """The T tokens of a sentence, ``[CLS]`` first and ``[SEP]`` last.

        Raises:
            Unreadable: the sentence is empty, too long, or none of the stored ones.
        """

    @abstractmethod
    def weights(self, sentence: str) -> Tensor:
        """Who looks at whom: (LAYERS, HEADS, T, T)."""

    def wall(self, sentence: str) -> Wall:
        """All heads of all layers at a glance."""
        return Wall(self.weights(sentence), self.tokens(sentence), sentence)

    def show(self, sentence: str, layer: int, head: int = 0) -> Heatmap:
        """The heads of one layer, close up.

        Raises:
            ValueError: there is no such layer or head.
        """
        if layer not in range(LAYERS):
            raise ValueError(f"there is no layer {layer}: layers are numbered 0 to {LAYERS - 1}")
        weights, tokens = self.weights(sentence)[layer], self.tokens(sentence)
        return show_heads(
            weights,
            tokens,
            causal=False,
            head=head,
            title=f"Layer {layer} of all-MiniLM-L6-v2",
            labels=head_labels(weights, tokens),
        )


class Live(Reading):
    """The model, around a learner's class."""

    live = True

    def __init__(self, model: MiniLM, tokenizer):
        self.model = model.eval().requires_grad_(False)
        self._tokenizer = tokenizer
        # The file asks for 128 tokens, no more and no fewer.
        tokenizer.no_padding()
        tokenizer.no_truncation()

    def tokens(self, sentence: str) -> list[str]:
        return self._encode(sentence).tokens

    def weights(self, sentence: str) -> Tensor:
        return self.model.weights(self.ids(sentence))[0]

    def ids(self, *sentences: str) -> Tensor:
        """Token ids (B, T) of sentences that have equally many tokens."""
        return torch.tensor([self._encode(sentence).ids for sentence in sentences])

    def states(self, sentence: str) -> Tensor:
        """The hidden states after the last layer, (T, d_model)."""
        return self.model(self.ids(sentence))[0]

    def meaning(self, sentence: str) -> Tensor:
        """The sentence as one vector (d_model,) of length 1: the mean of its states.

        Sentences that mean much the same have vectors whose dot product is near 1.
        """
        return F.normalize(self.states(sentence).mean(0), dim=0)

    def difference(self) -> float:
        """How far the states of the stored sentence are from those of the original, at most: every
        third feature."""
        stored = json.loads(STORED.read_text(encoding="utf-8"))
        original = torch.tensor(stored["states"]["millionths"]) / 1e6  # (T, 128)
        states = self.states(stored["states"]["sentence"])[:, KEPT]
        return (states - original).abs().max().item()

    @contextlib.contextmanager
    def without(self, layer: int, head: int) -> Iterator[None]:
        """Take a head away for a while: nothing of what it collects reaches ``out_proj``."""
        weight = self.model.blocks[layer].attention.out_proj.weight
        d_head = D_MODEL // self.model.num_heads
        columns = slice(head * d_head, (head + 1) * d_head)
        kept = weight[:, columns].clone()
        weight[:, columns] = 0
        try:
            yield
        finally:
            weight[:, columns] = kept

    def _encode(self, sentence: str):
        if not isinstance(sentence, str):
            raise Unreadable(f"A sentence is text in quotes, not {type(sentence).__name__}.")
        encoding = self._tokenizer.encode(sentence)
        count = len(encoding.ids)
        if count == 2:
            raise Unreadable("There is nothing to read: give at least one word.")
        if count > MOST_TOKENS:
            raise Unreadable(
                f"That is {count} tokens. The model reads at most {MOST_TOKENS}, [CLS] and [SEP] "
                "included: take a shorter text."
            )
        return encoding


class Stored(Reading):
    """Sentences that were read beforehand, with weights to within 1.1 percent."""

    live = False

    def __init__(self):
        self._read = json.loads(STORED.read_text(encoding="utf-8"))["sentences"]

    def tokens(self, sentence: str) -> list[str]:
        return self._find(sentence)["tokens"]

    def weights(self, sentence: str) -> Tensor:
        read = self._find(sentence)
        return unpack(read["weights"], len(read["tokens"]))

    def _find(self, sentence):
        if sentence not in self._read:
            known = " and ".join(f'"{text}"' for text in self._read)
            raise Unreadable(f"Without the model only {known} can be shown.")
        return self._read[sentence]


def pack(weights: Tensor) -> str:
    """Weights (LAYERS, HEADS, T, T) as text, row after row; each row still sums to 1."""
    shares = weights * (HIGHEST - LOWEST)
    whole = shares.floor()
    # What rounding down has taken from a row goes to those that lost most.
    missing = (HIGHEST - LOWEST - whole.sum(-1, keepdim=True)).round()
    whole += (shares - whole).argsort(-1, descending=True).argsort(-1) < missing
    return "".join(map(chr, (whole.int() + LOWEST).flatten().tolist()))


def unpack(text: str, T: int) -> Tensor:
    """What ``pack`` made of weights (LAYERS, HEADS, T, T): each to within 1.1 percent."""
    codes = torch.frombuffer(bytearray(text, "ascii"), dtype=torch.uint8).float()
    return ((codes - LOWEST) / (HIGHEST - LOWEST)).view(LAYERS, HEADS, T, T)
