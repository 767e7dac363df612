import base64
import json
import zlib

import numpy as np
import pytest

from attention_lab import show_heads
from attention_lab.heatmap.payload import COARSE, FINE, KNEE, MASKED, NAN, encode, to_json


def decode(codes, step):
    """As assets/codec.js does."""
    size, steps = np.abs(codes), round(KNEE / step)
    beyond = KNEE * (1 + step / KNEE) ** np.maximum(size - steps, 0)
    return np.sign(codes) * np.where(size <= steps, size * step, beyond)


@pytest.mark.parametrize("step", [COARSE, FINE])
def test_values_are_read_within_half_a_percent_or_a_thousandth(step):
    values = np.concatenate([np.linspace(0, 1, 100_001), np.geomspace(1e-9, 1e9, 10_001)])
    values = np.concatenate([values, -values])
    error = np.abs(decode(encode(values, step), step) - values)
    assert (error <= np.maximum(0.005 * np.abs(values), 0.001) + 1e-12).all()


def test_special_values_have_codes_of_their_own():
    codes = encode(np.array([np.nan, np.inf, 1e300]), COARSE)
    assert codes.tolist() == [NAN, NAN - 1, NAN - 1]


def test_bytes_are_what_the_browser_expects():
    scene = show_heads(np.eye(2)[None], ["a", "b"], causal=True).scene
    data = zlib.decompress(base64.b64decode(json.loads(to_json(scene))["data"]))
    codes = np.frombuffer(data, np.uint8).reshape(2, -1).T.copy().view("<i2").ravel()
    assert codes[1] == MASKED
    np.testing.assert_allclose(decode(codes[[0, 2, 3]], FINE), [1, 0, 1], rtol=5e-3)


def test_json_cannot_close_a_script():
    scene = show_heads(np.eye(2)[None], ["</script>", "b"]).scene
    assert "<" not in to_json(scene)
    assert json.loads(to_json(scene))["keys"][0] == "</script>"
