"""Tokens by features, with the slices of the heads."""

from __future__ import annotations

import base64
import io

import numpy as np
import pytest
import torch
from PIL import Image

from attention_lab.heatmap import show_features
from attention_lab.heatmap.palette import LIGHT, lookup

HEADS = torch.arange(24.0).reshape(2, 3, 4)  # (H, T, d_head)
MERGED = HEADS.transpose(0, 1).reshape(3, 8)  # (T, d_model)


def rows(shown):
    html = shown._repr_mimebundle_()["text/html"].split("<tbody>")[1].split("</tbody>")[0]
    cells = [row.split("<td")[1:] for row in html.split("<tr>")[1:]]
    return [[cell.split(">")[1].split("<")[0] for cell in row] for row in cells]


def picture(shown):
    png = base64.b64decode(shown._repr_mimebundle_()["image/png"])
    return Image.open(io.BytesIO(png)).convert("RGB")


def test_heads_lie_side_by_side():
    assert rows(show_features(HEADS))[1] == [f"{i}.0" for i in (4, 5, 6, 7, 16, 17, 18, 19)]


def test_what_is_split_is_shown_as_what_is_merged():
    split, merged = show_features(HEADS), show_features(MERGED, num_heads=2)
    assert rows(split) == rows(merged)
    assert split._repr_mimebundle_()["image/png"] == merged._repr_mimebundle_()["image/png"]


def test_a_batch_of_one_is_one():
    assert rows(show_features(HEADS[None])) == rows(show_features(HEADS))
    assert rows(show_features(MERGED[None], num_heads=2)) == rows(show_features(HEADS))


def test_numpy_and_gradients_and_half_precision():
    shown = rows(show_features(HEADS))
    for same in (HEADS.numpy(), HEADS.half(), HEADS.clone().requires_grad_()):
        assert rows(show_features(same)) == shown


def test_every_head_is_named_over_its_slice():
    html = show_features(HEADS)._repr_mimebundle_()["text/html"]
    for h in range(2):
        assert f'<th scope="colgroup" colspan="4">head {h}</th>' in html


def test_numbers_read_plainly():
    features = np.array([[[0.0, -0.04, -1.26, np.nan, np.inf]]])
    assert rows(show_features(features)) == [["0", "0.0", "−1.3", "nan", "inf"]]


def test_words_are_told_apart_and_harmless():
    html = show_features(HEADS, ["<b>", "a", "a"])._repr_mimebundle_()["text/html"]
    assert "&lt;b&gt;" in html
    assert "<b>" not in html
    assert "a₁" in html


def test_variants_share_one_scale():
    shown = show_features({"small": HEADS / 10, "large": HEADS})
    html = shown._repr_mimebundle_()["text/html"]
    assert html.index("small") < html.index("large")
    assert html.count("--a:1.00") == 1


def test_the_picture_is_darker_where_numbers_are_larger():
    image = picture(show_features(np.array([[[0.0, 5.0]]])))
    colours = image.getcolors(10_000)
    strongest = tuple(map(int, lookup(LIGHT)[200]))
    assert strongest in {colour for _, colour in colours}
    assert picture(show_features(np.zeros((1, 1, 2)))).size == image.size


@pytest.mark.parametrize("large", [-99.96, 9999.4, 43210.0, -3e9, 1e12])
def test_large_numbers_leave_the_cells_beside_them_alone(large):
    beside = [
        np.array(picture(show_features(np.array([[[number, 0.0]]]))))[:, -29:]
        for number in (5.0, large)
    ]
    assert np.array_equal(*beside)


def test_in_words():
    assert repr(show_features(HEADS, title="q")) == "q: 3 tokens, 2 heads of 4 features"


@pytest.mark.parametrize(
    ("features", "options", "says"),
    [
        (torch.zeros(2, 3), {}, "must be (H, T, d_head); this has shape (2, 3)"),
        (torch.zeros(2, 3, 4, 5), {}, "this has shape (2, 3, 4, 5)"),
        (torch.zeros(2, 3, 4), {"num_heads": 2}, "must be (T, d_model); this has shape (2, 3, 4)"),
        (torch.zeros(3, 4), {"num_heads": 3}, "3 heads cannot share 4 features"),
        (torch.zeros(3, 4), {"num_heads": 0}, "0 heads cannot share 4 features"),
        (torch.zeros(2, 0, 4), {}, "this has shape (2, 0, 4)"),
        (torch.zeros(2, 3, 4), {"tokens": ["a"]}, "for 3 tokens, but tokens has 1"),
        (torch.zeros(2, 200, 64), {}, "25,600 numbers"),
        ({}, {}, "no features"),
        (
            {"a": torch.zeros(1, 2, 3), "b": torch.zeros(1, 2, 4)},
            {},
            "a has (1, 2, 3), b has (1, 2, 4)",
        ),
    ],
)
def test_what_cannot_be_shown_is_said(features, options, says):
    with pytest.raises(ValueError) as caught:
        show_features(features, **options)
    assert says in str(caught.value)


def test_no_numbers_at_all():
    with pytest.raises(TypeError, match="features must be a torch tensor"):
        show_features(print)
