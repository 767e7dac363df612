import base64
import json
import zlib

import numpy as np
import pytest

from attention_lab import show_heads
from attention_lab.heatmap.payload import COARSE, FINE, KNEE, MASKED, NAN, encode, to_json


def decode(codes, steps):
    """As assets/codec.js does."""
    size, knee = np.abs(codes), round(KNEE / steps.equal)
    beyond = KNEE * (1 + steps.ratio) ** np.maximum(size - knee, 0)
    return np.sign(codes) * np.where(size <= knee, size * steps.equal, beyond)


@pytest.mark.parametrize("steps", [COARSE, FINE])
def test_what_is_read_is_within_half_a_percent_or_a_thousandth(steps):
    values = np.concatenate([np.linspace(0, 1, 100_001), np.geomspace(1e-9, 1e9, 10_001)])
    values = np.concatenate([values, -values])
    read = decode(encode(values, steps), steps).round(3)
    assert (np.abs(read - values) <= np.maximum(0.005 * np.abs(values), 0.001) + 1e-12).all()


def test_special_values_have_codes_of_their_own():
    codes = encode(np.array([np.nan, np.inf, 1e300]), COARSE)
    assert codes.tolist() == [NAN, NAN - 1, NAN - 1]


def test_bytes_are_what_the_browser_expects():
    scene = show_heads(np.eye(2)[None], ["a", "b"], causal=True).scene
    data = zlib.decompress(base64.b64decode(json.loads(to_json(scene))["data"]))
    codes = np.frombuffer(data, np.uint8).reshape(2, -1).T.copy().view("<i2").ravel()
    assert codes[1] == MASKED
    np.testing.assert_allclose(decode(codes[[0, 2, 3]], FINE), [1, 0, 1], rtol=5e-3)


def test_the_row_read_first_is_the_last_or_the_one_asked_for():
    rows = [
        json.loads(to_json(show_heads(np.eye(3)[None], row=row).scene))["row"] for row in (None, 1)
    ]
    assert rows == [2, 1]


def test_json_cannot_close_a_script():
    scene = show_heads(np.eye(2)[None], ["</script>", "b"]).scene
    assert "<" not in to_json(scene)
    assert json.loads(to_json(scene))["keys"][0] == "</script>"
