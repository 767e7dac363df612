import io

import numpy as np
import pytest
from PIL import Image

from attention_lab import show_heads
from attention_lab.heatmap import picture


@pytest.mark.parametrize("T", [1, 6, 48, 512])
def test_png_is_small_and_opens(T):
    png = picture.png(show_heads(np.tile(np.eye(T), (2, 1, 1))).scene)
    assert len(png) < 40_000
    assert Image.open(io.BytesIO(png)).width <= 1000


def test_what_is_compared_stands_beside_it():
    weights = {"yours": np.eye(6)[None], "other": np.eye(6)[None, ::-1]}
    alone, both = (
        picture.draw(show_heads(weights, compare=compare).scene, 0) for compare in (None, "other")
    )
    assert both.width > alone.width + picture.LARGE
    assert both.height == alone.height


def test_large_values_are_dark_and_masked_cells_hatched():
    scene = show_heads(np.eye(2)[None], causal=True).scene
    heat = np.asarray(picture._heat(scene.shown, 0, 100, 100))
    assert (heat[:50, :50] == picture.INK).all()
    assert (heat[50:, :50] == picture.PAPER).all()
    assert set(np.unique(heat[:50, 50:])) == {picture.LINE // 2, picture.HATCH}


def test_a_strong_cell_survives_when_cells_share_a_pixel():
    weights = np.zeros((1, 500, 500))
    weights[0, :, 123] = 1
    heat = np.asarray(picture._heat(show_heads(weights, causal=False).scene.shown, 0, 100, 100))
    assert (heat.max(1) == picture.INK).all()
