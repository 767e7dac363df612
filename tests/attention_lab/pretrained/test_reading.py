import pytest
import torch

from attention_lab.pretrained import Stored, Unreadable
from attention_lab.pretrained.reading import pack, unpack

from .original import KEYS, OURS


@pytest.fixture(scope="module")
def reading():
    return Stored()


def test_tokens(minilm):
    assert minilm.tokens("The cat likes unaffable cats.") == [
        "[CLS]", "the", "cat", "likes", "una", "##ffa", "##ble", "cats", ".", "[SEP]",
    ]  # fmt: skip


@pytest.mark.parametrize("sentence", [OURS, KEYS])
def test_stored_sentences_are_as_the_model_reads_them(sentence, minilm, reading):
    assert reading.tokens(sentence) == minilm.tokens(sentence)
    assert (reading.weights(sentence) - minilm.weights(sentence)).abs().max() <= 0.011


def test_packed_rows_still_sum_to_1():
    torch.manual_seed(0)
    weights = torch.randn(6, 12, 9, 9).mul(2).softmax(-1)
    unpacked = unpack(pack(weights), 9)
    assert (unpacked - weights).abs().max() < 1 / 93
    assert torch.allclose(unpacked.sum(-1), torch.ones(()))
    assert unpack(pack(torch.eye(4).expand(6, 12, 4, 4)), 4)[0, 0].equal(torch.eye(4))


@pytest.mark.parametrize("sentence", ["", "   ", "\n", "\u200b"])
def test_nothing_to_read(sentence, minilm):
    with pytest.raises(Unreadable, match="give at least one word"):
        minilm.wall(sentence)


def test_600_words_are_too_many(minilm):
    with pytest.raises(Unreadable, match=r"That is 602 tokens\. The model reads at most 512"):
        minilm.wall("word " * 600)


@pytest.mark.parametrize("sentence", [None, 7, ["a", "cat"]])
def test_not_a_sentence(sentence, minilm):
    with pytest.raises(Unreadable, match="text in quotes"):
        minilm.tokens(sentence)


@pytest.mark.parametrize(
    "sentence", ["日本語のテスト", "مرحبا بالعالم", "😀 🎉", "a", "<b>bold</b> & co", "word " * 100]
)
def test_a_picture_for(sentence, minilm):
    assert minilm.wall(sentence)._repr_mimebundle_()["text/html"].count("<img") == 72
    assert minilm.show(sentence, layer=2, head=7)._repr_mimebundle_()["image/png"]


def test_a_sentence_that_is_not_stored(reading):
    with pytest.raises(Unreadable, match='Without the model only "the cat likes'):
        reading.wall("Another one.")


def test_no_such_layer_or_head(minilm):
    with pytest.raises(ValueError, match="no layer 6: layers are numbered 0 to 5"):
        minilm.show(OURS, layer=6)
    with pytest.raises(ValueError, match="no head 12"):
        minilm.show(OURS, layer=0, head=12)


def test_a_close_up_has_the_labels_of_the_wall(minilm):
    wall, layer = minilm.wall(KEYS), minilm.show(KEYS, layer=0, head=2)
    assert layer.scene.head == 2
    assert list(layer.scene.shown.labels) == wall.labels[0]
    assert wall.labels[0][2] == "previous token 100 %"


def test_sentences_that_mean_the_same_are_near(minilm):
    cat, kitten, tax = map(
        minilm.meaning,
        ["A cat sleeps on the sofa.", "A kitten naps on the couch.", "Taxes are due in May."],
    )
    assert cat.norm().item() == pytest.approx(1)
    assert cat @ kitten > 0.5 > 0.2 > cat @ tax


def test_a_head_is_gone_for_a_while_only(minilm):
    whole = minilm.states(OURS)
    with minilm.without(0, 2):
        assert (minilm.states(OURS) - whole).abs().max() > 0.01
    assert torch.equal(minilm.states(OURS), whole)


def test_without_a_head_its_columns_of_out_proj_read_nothing(minilm):
    with minilm.without(1, 3):
        weight = minilm.model.blocks[1].attention.out_proj.weight
        empty = weight.abs().sum(0) == 0
    assert empty.nonzero().flatten().tolist() == list(range(3 * 32, 4 * 32))
