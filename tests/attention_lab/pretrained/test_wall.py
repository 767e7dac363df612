import base64
import io
import re

import numpy as np
import pytest
import torch
from PIL import Image

from attention_lab.pretrained.wall import INK, MOST_CELLS, Wall

TOKENS = ["[CLS]", "a", "cat", "[SEP]"]


def wall(T=4, tokens=TOKENS, sentence="a cat"):
    weights = torch.zeros(2, 3, T, T)
    weights[..., 0] = 1  # all heads rest on the first token ...
    weights[1, 2] = torch.eye(T).roll(1, -1)  # ... but for one that looks at the next
    return Wall(weights, tokens, sentence)


def images(wall):
    html = wall._repr_mimebundle_()["text/html"]
    found = re.findall(
        r'<img alt="([^"]+)" width="50" height="50" src="data:image/png;base64,([^"]+)">', html
    )
    return {alt: np.asarray(Image.open(io.BytesIO(base64.b64decode(data)))) for alt, data in found}


def test_a_head_is_a_picture_of_its_weights():
    found = images(wall())
    assert list(found) == [f"Layer {layer}, head {head}" for layer in (0, 1) for head in range(3)]
    picture = found["Layer 1, head 2"]
    assert np.array_equal(picture[..., 3], 255 * np.eye(4).T[[1, 2, 3, 0]])
    assert (picture[..., :3] == INK).all()


def test_labels_in_words():
    assert wall().labels[0] == ["[CLS] 100 %"] * 3
    assert "L1.H2: next token" in repr(wall())


def test_rows_and_columns_have_headings():
    html = wall()._repr_mimebundle_()["text/html"]
    assert re.findall(r'scope="col">([^<]+)', html) == ["head 0", "head 1", "head 2"]
    assert re.findall(r'scope="row">([^<]+)', html) == ["layer 0", "layer 1"]


def test_a_sentence_is_text_never_markup():
    html = wall(tokens=["<b>", "&", "x", "y"], sentence="<script>")._repr_mimebundle_()["text/html"]
    assert "<script>" not in html
    assert "<b>" not in html


@pytest.mark.parametrize("T", [1, MOST_CELLS, MOST_CELLS + 1, 300])
def test_long_sentences_share_cells_and_lose_no_peak(T):
    tokens = [str(i) for i in range(T)]
    weights = torch.zeros(1, 1, T, T)
    weights[0, 0, :, T // 2] = 1
    (picture,) = images(Wall(weights, tokens, "")).values()
    assert picture.shape[:2] == (min(T, MOST_CELLS),) * 2
    assert (picture[..., 3].max(-1) == 255).all()
