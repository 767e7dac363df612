import pytest
import torch

from attention_lab import example

T = len(example.tokens)


def split(features):
    return features.unflatten(-1, (example.num_heads, -1)).movedim(-2, 1)


@pytest.fixture
def weights():
    """The attention of the four heads, rightly split, (H, T, T)."""
    q, k = example.q_proj(example.x), example.k_proj(example.x)
    return example.pattern(split(q), split(k))[0]


def test_no_two_sizes_are_equal():
    sizes = [len(example.x), T, example.d_model, example.num_heads, example.d_head]
    assert len(set(sizes)) == len(sizes)
    assert example.x.shape == (1, T, example.d_model)
    assert example.d_model == example.num_heads * example.d_head
    assert len(example.head_names) == example.num_heads


def test_each_head_does_its_job(weights):
    at = torch.arange(T)
    previous, same, first, following = weights
    assert (previous[at, (at - 1).clamp(min=0)] > 0.95).all()
    assert (first[:, 0] > 0.95).all()
    assert (following[at, (at + 1).clamp(max=T - 1)] > 0.95).all()
    is_same = torch.tensor([[a == b for b in example.tokens] for a in example.tokens])
    assert ((same * is_same).sum(-1) > 0.95).all()


def test_a_repeated_word_is_shared_out_equally(weights):
    same = weights[1]
    assert same[0, 0] == pytest.approx(same[0, 3].item())
    assert same[0, 0] > 0.45


def test_view_without_a_swap_scrambles_every_head(weights):
    q, k = example.q_proj(example.x), example.k_proj(example.x)
    shape = (1, example.num_heads, T, example.d_head)
    scrambled = example.pattern(q.view(shape), k.view(shape))[0]
    assert ((scrambled - weights).abs().amax((-2, -1)) > 0.4).all()


def test_two_jobs_in_one_head_come_out_as_one_mixture():
    weights = example.two_jobs_in_one_head()
    assert weights.shape == (1, 1, T, T)
    likes = weights[0, 0, 2]
    assert likes[1] == pytest.approx(likes[2].item())
    assert likes[1] > 0.45


def test_layers_ask_for_no_gradient():
    layers = (example.q_proj, example.k_proj, example.v_proj, example.out_proj)
    assert not any(p.requires_grad for layer in layers for p in layer.parameters())


def test_values_are_words(weights):
    v = split(example.v_proj(example.x))
    mixed = (weights @ v)[0].transpose(0, 1).flatten(1)
    assert example.words_found(mixed)[4] == ["the", "other", "the", "cat"]


def test_out_proj_adds_up_two_heads_and_keeps_two_apart(weights):
    v = split(example.v_proj(example.x))
    mixed = (weights @ v)[0].transpose(0, 1).flatten(1)
    found = example.words_found(example.out_proj(mixed))
    assert found[2] == ["the+likes", "-", "cat", "the"]


def test_words_found_orders_by_strength_and_leaves_out_the_quiet():
    features = torch.zeros(T, example.d_head)
    features[0, :3] = torch.tensor([0.6, 1.0, 0.4])
    found = example.words_found(features)
    assert found == [["cat+the"], *[["-"]] * (T - 1)]


@pytest.mark.parametrize(
    "words", [["a"], ["one", "two", "one"], ["a", "b", "c", "d", "e", "f", "g", "h"]]
)
def test_heads_do_their_jobs_in_other_sentences(words):
    x = example.embed(words)
    T = len(words)
    q, k = split(example.q_proj(x)), split(example.k_proj(x))
    previous, same, first, following = example.pattern(q, k)[0]
    at = torch.arange(T)
    assert (previous[at, (at - 1).clamp(min=0)] > 0.94).all()
    assert (first[:, 0] > 0.94).all()
    assert (following[at, (at + 1).clamp(max=T - 1)] > 0.94).all()
    is_same = torch.tensor([[a == b for b in words] for a in words])
    assert ((same * is_same).sum(-1) > 0.94).all()


@pytest.mark.parametrize("count", [0, 9])
def test_a_sentence_that_does_not_fit_is_refused(count):
    with pytest.raises(ValueError, match=f"1 to 8 words; these are {count}"):
        example.embed(["word"] * count)


def test_fill_writes_all_four_layers():
    module = torch.nn.Module()
    for name in ("q_proj", "k_proj", "v_proj", "out_proj"):
        setattr(module, name, torch.nn.Linear(example.d_model, example.d_model))
    example.fill(module)
    assert torch.equal(module.q_proj(example.x), example.q_proj(example.x))
    assert torch.equal(module.out_proj.weight, example.out_proj.weight)


def test_linear_has_the_numbers_given():
    layer = example.linear([[1, 2, 3], [4, 5, 6]], [7, 8])
    assert layer(torch.tensor([1.0, 0.0, 1.0])).tolist() == [11.0, 18.0]
    assert not layer.weight.requires_grad
