import numpy as np
import pytest
import torch

from attention_lab import NotWrittenYet, follow


def project(x, q_proj, k_proj, v_proj):
    return q_proj(x), k_proj(x), v_proj(x)


def split_heads(x, num_heads):
    return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)


def attention_scores(q, k):
    return q @ k.mT / q.shape[-1] ** 0.5


def causal_mask(T, device=None, dtype=None):
    return torch.full((T, T), -torch.inf).triu(1)


def masked_softmax(scores, mask=None):
    return (scores if mask is None else scores + mask).softmax(-1)


def attend(weights, v):
    return weights @ v


def merge_heads(x):
    return x.transpose(1, 2).flatten(2)


STEPS = {
    step.__name__: step
    for step in (
        project, split_heads, attention_scores, causal_mask, masked_softmax, attend, merge_heads,
    )
}  # fmt: skip


def titles(walk):
    return [step.title for step in walk.steps]


def test_right_steps_are_all_told_without_a_warning():
    walk = follow(STEPS, "the cat likes the dog", token="likes", head=1)
    assert titles(walk) == ["x", *STEPS]
    assert [step.warning for step in walk.steps] == [""] * 8
    assert "4. causal_mask: “likes” may not look at the₂, dog: −∞ is added" in repr(walk)
    assert set(walk._repr_mimebundle_()) == {"text/html", "image/png", "text/plain"}


def test_every_step_tells_the_shape_that_came_out():
    shapes = [step.sentence.rsplit(" is ", 1)[1] for step in follow(STEPS, "a b c d e").steps]
    whole, split, table = "(1, 5, 6).", "(1, 2, 5, 3).", "(1, 2, 5, 5)."
    assert shapes == [whole, whole, split, table, "(5, 5).", table, split, whole]


def test_where_the_numbers_come_from_is_said():
    projections = [torch.nn.Linear(4, 4) for _ in "qkv"]
    given = follow(STEPS, "the cat", x=torch.eye(4)[:2], projections=projections)
    assert "drawn at random" not in repr(given)
    assert "drawn at random" in follow(STEPS, "the cat").steps[0].sentence


@pytest.mark.parametrize("T", [2, 3, 6])
def test_scores_of_the_numbers_drawn_differ(T):
    for token in range(1, T):
        grid = follow(STEPS, list("abcdef"[:T]), token=token).steps[3].grids[0]
        assert np.ptp(grid.values[: token + 1, -1]) > 0.7


@pytest.mark.parametrize(("size", "label"), [(1, "exp"), (1e4, "exp(… − ")])
def test_only_large_scores_are_shifted_and_it_is_said(size, label):
    steps = STEPS | {"attention_scores": lambda q, k: size * attention_scores(q, k)}
    walk = follow(steps, "the cat likes")
    grid = walk.steps[5].grids[0]
    assert grid.rows[1].startswith(label)
    assert (grid.rows[1] == "exp") == (size == 1)
    assert walk.steps[5].warning == ""


def test_a_list_of_functions_will_do_and_no_mask_too():
    walk = follow(list(STEPS.values()), "the cat", causal=False)
    assert "every token" in walk.steps[4].sentence


def test_a_wrong_view_is_seen_in_the_labels():
    wrong = STEPS | {"split_heads": lambda x, H: x.view(1, H, x.shape[1], -1)}
    step = follow(wrong, "the cat sat").steps[2]
    assert "another token" in step.warning
    assert step.grids[0].origins[1][0] == "the·3"
    assert step.grids[0].wrong[1, 0]


def test_the_wrong_view_lies_beside_the_right_split():
    step = follow(STEPS, "the cat sat").steps[2]
    assert not any(grid.wrong.any() for grid in step.grids)
    assert any(grid.wrong.any() for grid in step.aside)


def test_terms_add_up_to_the_score():
    grid = follow(STEPS, "the cat sat", token="cat").steps[3].grids[0]
    np.testing.assert_allclose(grid.values[:, :3].sum(-1), grid.values[:, 3])
    np.testing.assert_allclose(grid.values[:, 4], grid.values[:, 5], atol=1e-6)


@pytest.mark.parametrize(
    ("name", "wrong", "says"),
    [
        ("attention_scores", lambda q, k: q @ k.mT, "Your attention_scores gives"),
        ("masked_softmax", lambda s, mask: s.softmax(-1), "Your masked_softmax gives"),
        ("attend", lambda w, v: v, "Your attend gives"),
        ("merge_heads", lambda x: x.reshape(1, x.shape[2], -1), "another head or token"),
    ],
)
def test_what_differs_is_said(name, wrong, says):
    walk = follow(STEPS | {name: wrong}, "the cat sat", token="cat")
    assert says in walk.steps[1 + list(STEPS).index(name)].warning


@pytest.mark.parametrize(
    ("broken", "says"),
    [
        (
            lambda x, H: x,
            "split_heads returned the shape (1, 3, 6); the next step needs (1, 2, 3, 3)",
        ),
        (lambda x, H: 1 / 0, "ZeroDivisionError"),
        (lambda x, H: None, "split_heads returned NoneType; the next step needs tensors"),
    ],
)
def test_a_step_that_fails_ends_the_walk(broken, says):
    walk = follow(STEPS | {"split_heads": broken}, "the cat sat")
    assert titles(walk) == ["x", "project", "It stops here"]
    assert says in walk.steps[-1].warning


def test_project_must_return_three():
    walk = follow(STEPS | {"project": lambda x, q, k, v: q(x)}, "the cat")
    assert (
        "project returned the shape (1, 2, 6); the next step needs (1, 2, 6), (1, 2, 6), (1,"
        in (walk.steps[-1].warning)
    )


def test_files(tmp_path):
    walk = follow(STEPS, "the cat")
    assert walk.png(tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    page = walk.to_html(tmp_path / "a.html").read_text(encoding="utf-8")
    assert "http" not in page


@pytest.mark.parametrize(
    ("tokens", "options"),
    [
        ("one", {}),
        (["<script>alert(1)</script>", "b"], {}),
        (["", " "], {"token": 0}),
        ("the cat", {"num_heads": 1}),
        ("the cat", {"num_heads": 12, "head": 11}),
    ],
)
def test_a_walk_of_eight_steps_for(tokens, options):
    walk = follow(STEPS, tokens, **options)
    assert [step.warning for step in walk.steps] == [""] * 8
    assert walk._repr_mimebundle_()["text/html"].count("<script>") == 1


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_other_dtypes_and_gradients(dtype):
    x = torch.randn(1, 2, 4, generator=torch.Generator().manual_seed(0)).to(dtype)
    projections = tuple(torch.nn.Linear(4, 4, dtype=dtype) for _ in "qkv")
    steps = STEPS | {"causal_mask": lambda T: torch.full((T, T), -torch.inf, dtype=dtype).triu(1)}
    walk = follow(steps, "the cat", x=x.requires_grad_(), projections=projections)
    assert len(walk.steps) == 8


def test_an_unsolved_step_is_one_friendly_line():
    def unsolved(*args):
        raise NotWrittenYet

    walk = follow(STEPS | {"project": unsolved}, "the cat")
    assert "not written yet" in walk.steps[-1].warning
    assert "\n" not in walk.steps[-1].warning


def test_global_generator_is_left_alone():
    before = torch.random.get_rng_state()
    follow(STEPS, "the cat")
    assert torch.equal(torch.random.get_rng_state(), before)


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"steps": [project]}, ValueError, "these are missing: split_heads"),
        ({"tokens": ""}, ValueError, "no words"),
        ({"tokens": []}, ValueError, "no words"),
        ({"x": torch.zeros(2, 6, device="meta"), "projections": ()}, ValueError, "meta device"),
        ({"token": "dog"}, ValueError, "'dog' is not among"),
        ({"token": 7}, ValueError, "no token 7"),
        ({"head": 2}, ValueError, "no head 2"),
        ({"x": torch.zeros(2, 6)}, ValueError, "both x and projections"),
        ({"x": torch.zeros(2, 5), "projections": ()}, ValueError, "heads divide"),
    ],
)
def test_one_clear_sentence_for(options, error, says):
    with pytest.raises(error, match=says):
        follow(**{"steps": STEPS, "tokens": "the cat", **options})
