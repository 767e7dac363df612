import base64
import json

import numpy as np
import pytest
import torch

from attention_lab import show_heads

TOKENS = ["the", "cat", "likes", "the", "other", "cat"]


def weights(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).softmax(-1)


def test_bundle_has_page_picture_and_words():
    bundle = show_heads(weights(4, 6, 6), TOKENS)._repr_mimebundle_()
    assert set(bundle) == {"text/html", "image/png", "text/plain"}
    assert base64.b64decode(bundle["image/png"]).startswith(b"\x89PNG")
    assert "4 heads, 6 tokens" in bundle["text/plain"]
    assert bundle["image/png"] in bundle["text/html"]


def test_files(tmp_path):
    picture = show_heads(weights(4, 6, 6), TOKENS)
    assert picture.png(tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    page = picture.to_html(tmp_path / "a.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "http" not in page.replace("http-equiv", "")


@pytest.mark.parametrize(
    "given",
    [
        weights(4, 6, 6).half(),
        weights(4, 6, 6).bfloat16(),
        weights(4, 6, 6).requires_grad_(),
        weights(4, 6, 6).to_sparse(),
        weights(4, 6, 6).numpy(),
        weights(2, 4, 6, 6),
        weights(4, 6, 6) * np.nan,
        weights(4, 6, 6) * 5 - 1,
        torch.randn(4, 6, 6, generator=torch.Generator().manual_seed(0)),
        torch.full((2, 6, 6), -torch.inf),
        weights(1, 1, 1),
        weights(64, 4, 4),
        weights(1, 512, 512),
        weights(3, 2, 5),
        [weights(4, 6, 6), weights(4, 6, 6, seed=1)],
        {"yours": weights(4, 6, 6), "PyTorch": weights(4, 6, 6).numpy()},
    ],
    ids=lambda given: f"{type(given).__name__}-{getattr(given, 'shape', len(given))}",
)
def test_a_picture_for(given):
    assert show_heads(given)._repr_mimebundle_()["image/png"]


@pytest.mark.parametrize(
    ("given", "options", "error", "says"),
    [
        (weights(6, 6), {}, ValueError, r"weights\[None\]"),
        (weights(1, 2, 3, 6, 6), {}, ValueError, r"must be \(H, T, S\)"),
        (torch.empty(4, 0, 0), {}, ValueError, "nothing to show"),
        ([], {}, ValueError, "no weights"),
        ({"a": weights(4, 6, 6), "b": weights(4, 5, 5)}, {}, ValueError, "b has "),
        (torch.empty(4, 6, 6, device="meta"), {}, ValueError, "meta device"),
        ("weights", {}, TypeError, "real numbers"),
        (None, {}, TypeError, "torch tensor or a numpy array"),
        (weights(4, 6, 6) * 1j, {}, TypeError, "real numbers"),
        (np.ones((80, 300, 300)), {}, ValueError, "too many"),
        (torch.empty(4, 0, 0), {"tokens": []}, ValueError, "nothing to show"),
        (weights(4, 6, 6), {"tokens": []}, ValueError, "but tokens has 0"),
        (weights(4, 6, 6), {"tokens": ["a"]}, ValueError, "6 query and 6 key tokens"),
        (weights(4, 6, 6), {"tokens": "the cat"}, TypeError, r"text.split\(\)"),
        (weights(4, 6, 5), {"tokens": TOKENS}, ValueError, "Pass a pair"),
        (weights(4, 6, 5), {"causal": True}, ValueError, "as many queries as keys"),
        ({"a": weights(4, 6, 5)}, {"causal": {"a": True}}, ValueError, "as many queries as keys"),
        (
            {"a": weights(4, 6, 6)},
            {"causal": {"b": True}},
            ValueError,
            "True or False for each",
        ),
        (weights(4, 6, 6), {"head": 4}, ValueError, "numbered 0 to 3"),
        (weights(4, 6, 6), {"head": "0"}, TypeError, "must be a number"),
        (weights(4, 6, 6), {"row": 6}, ValueError, "no row 6: rows are numbered 0 to 5"),
        (weights(4, 6, 6), {"compare": "PyTorch"}, ValueError, "no variant 'PyTorch'"),
        (weights(4, 6, 6), {"mask": torch.ones(5, 5, dtype=bool)}, ValueError, r"\(6, 6\)"),
        (weights(4, 6, 6), {"mask": torch.ones(6, 6, dtype=int)}, TypeError, "additive"),
        (weights(4, 6, 6), {"mask": torch.ones(6, 6)}, TypeError, "ones and zeros as float"),
        (weights(6, 4, 6, 6), {"mask": torch.ones(6, 6, dtype=int)}, ValueError, "each sentence"),
        (weights(6, 4, 6, 6), {"mask": torch.ones(6, 6, dtype=bool)}, ValueError, "each sentence"),
        (weights(2, 4, 6, 6), {"tokens": [TOKENS, TOKENS]}, ValueError, "one sentence at a time"),
        (weights(3, 4, 6, 6), {"tokens": [TOKENS] * 3}, ValueError, "one sentence at a time"),
        ((), {}, ValueError, 'attn_implementation="eager"'),
        ((None, None), {}, ValueError, 'attn_implementation="eager"'),
    ],
)
def test_one_clear_sentence_for(given, options, error, says):
    with pytest.raises(error, match=says):
        show_heads(given, **options)


def test_argument_is_left_alone():
    given = weights(4, 6, 6)
    before = given.clone()
    show_heads(given, TOKENS)._repr_mimebundle_()
    assert torch.equal(given, before)


def test_causal_toggle_is_what_softmax_would_have_given():
    scores = torch.randn(4, 6, 6, generator=torch.Generator().manual_seed(0))
    masked = (scores + torch.full((6, 6), -torch.inf).triu(1)).softmax(-1)
    scene = show_heads(scores.softmax(-1)).scene
    (control,) = scene.controls
    assert (control.name, control.values) == ("causal", (False, True))
    np.testing.assert_allclose(scene.frames[1].weights, masked, atol=1e-6)


@pytest.mark.parametrize(
    "options", [{"causal": False}, {"causal": True}, {"mask": torch.zeros(6, 6)}]
)
def test_no_toggle_where_the_caller_has_said(options):
    assert show_heads(weights(4, 6, 6), **options).scene.controls == ()


def test_causal_weights_are_recognised():
    causal = torch.ones(4, 6, 6).tril()
    scene = show_heads(causal / causal.sum(-1, keepdim=True)).scene
    assert scene.shown.masked[0].sum() == 15


def test_one_variant_is_causal_and_the_other_is_not():
    full = torch.eye(6)[[*range(1, 6), 5]][None]  # the next token
    closed = (full + torch.full((6, 6), -torch.inf).triu(1)).softmax(-1)
    said = {"full": False, "closed": True}
    scene = show_heads({"full": full, "closed": closed}, causal=said).scene
    assert [frame.masked.sum() for frame in scene.frames] == [0, 15]
    alone = show_heads(closed, causal=True).scene
    assert scene.frames[1].masked.tolist() == alone.shown.masked.tolist()
    assert [control.name for control in scene.controls] == ["variant"]


def test_additive_and_boolean_masks_agree():
    boolean = torch.ones(6, 6, dtype=bool).triu(1)
    additive = torch.zeros(6, 6).masked_fill(boolean, -1e9)
    one, other = (show_heads(weights(4, 6, 6), mask=mask).scene for mask in (boolean, additive))
    np.testing.assert_array_equal(one.shown.masked, other.shown.masked)


@pytest.mark.parametrize("kind", [torch.long, torch.bool, torch.float32])
def test_the_attention_mask_of_a_padded_batch(kind):
    there = torch.tensor([[1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 0, 0]])
    scores = torch.randn(2, 4, 6, 6, generator=torch.Generator().manual_seed(0))
    padded = scores.masked_fill(there[:, None, None] == 0, -torch.inf).softmax(-1)
    picture = show_heads(padded, mask=there.to(kind))
    assert [frame.masked[0, 0].sum() for frame in picture.scene.frames] == [0, 2]
    assert picture.diagnose() == []


def test_half_of_an_emoji_is_shown(tmp_path):
    picture = show_heads(weights(2, 2, 2), ["\ud83d", "b"])
    assert picture.scene.queries == ("?", "b")
    picture.to_html(tmp_path / "page.html")


def test_table_reads_as_text_and_as_html():
    table = show_heads(torch.eye(2)[None], ["<b>", "b"], causal=True).table(0)
    assert repr(table).splitlines()[1].split() == ["<b>", "b"]
    assert repr(table).splitlines()[2].split() == ["<b>", "1.000", "masked"]
    assert "&lt;b&gt;" in table._repr_html_()


def test_diagnose_names_the_variant():
    right = weights(4, 6, 6)
    (note,) = show_heads({"mine": right * 0.7, "yours": right}, causal=False).diagnose()
    assert note.startswith("mine: Rows do not sum to 1")


def test_html_in_tokens_stays_text():
    evil = "</script><script>alert(1)</script>"
    html = show_heads(weights(2, 2, 2), [evil, "b"])._repr_mimebundle_()["text/html"]
    assert html.count("</script>") == 1
    json.dumps(html)


def test_heads_with_labels_of_ones_own():
    picture = show_heads(weights(2, 3, 3), labels=["left", "right"])
    assert repr(picture).splitlines()[1:3] == ["  head 0: left", "  head 1: right"]
    by_variant = {"before": ["none", "none"], "after": ["left", "right"]}
    both = show_heads(dict.fromkeys(by_variant, weights(2, 3, 3)), labels=by_variant)
    modes = 2  # each variant without and with the causal mask
    assert [frame.labels for frame in both.scene.frames] == [
        tuple(labels) for labels in by_variant.values() for _ in range(modes)
    ]


@pytest.mark.parametrize("labels", [["only one"], {"after": ["left", "right"]}])
def test_labels_must_fit_the_heads(labels):
    with pytest.raises(ValueError, match="2 words or phrases"):
        show_heads(weights(2, 3, 3), labels=labels)
