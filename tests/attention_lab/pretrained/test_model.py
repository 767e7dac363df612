"""The model equals transformers' own."""

import json

import pytest

from attention_lab.pretrained.reading import STORED, unpack

from .original import OURS, Original, stored

SENTENCES = (
    OURS,
    "Ünïcode, and unaffable punctuation: who'd have thought?",
    "日本語 العربية 😀",
    "word " * 510,
)


@pytest.fixture(scope="module")
def original():
    return Original()


@pytest.mark.parametrize("sentence", SENTENCES, ids=lambda sentence: sentence[:12])
def test_states_and_weights_are_those_of_transformers(sentence, original, minilm):
    ids = minilm.ids(sentence)
    states, weights = original.read(ids)
    assert (minilm.model(ids) - states).abs().max() <= 1e-5
    assert (minilm.model.weights(ids) - weights).abs().max() <= 1e-5


def test_what_is_stored_is_what_transformers_gives(original, minilm):
    new, old = json.loads(stored(original, minilm)), json.loads(STORED.read_text())
    assert new["states"]["sentence"] == old["states"]["sentence"]
    for new_row, old_row in zip(*(s["states"]["millionths"] for s in (new, old)), strict=True):
        assert new_row == pytest.approx(old_row, abs=10)
    assert new["sentences"].keys() == old["sentences"].keys()
    for sentence, read in new["sentences"].items():
        kept = old["sentences"][sentence]
        assert read["tokens"] == kept["tokens"]
        now, then = (unpack(each["weights"], len(kept["tokens"])) for each in (read, kept))
        assert (now - then).abs().max() <= 0.011


def test_what_is_stored_is_small():
    assert STORED.stat().st_size <= 30_000
