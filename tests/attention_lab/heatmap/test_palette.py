import numpy as np
import pytest

from attention_lab.heatmap import palette

# Linear RGB as seen without red, green or blue cones (Viénot, Brettel and Mollon; Brettel).
CONES = {
    "all cones": np.eye(3),
    "protanopia": np.array([[0.11238, 0.88762, 0], [0.11238, 0.88762, 0], [0.00401, -0.00401, 1]]),
    "deuteranopia": np.array(
        [[0.29275, 0.70725, 0], [0.29275, 0.70725, 0], [-0.02234, 0.02234, 1]]
    ),
    "tritanopia": np.array([[1, 0.14461, -0.14461], [0, 0.85924, 0.14076], [0, 0.85924, 0.14076]]),
}


def luminance(rgb, cones):
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return (linear @ cones.T).clip(0, 1) @ [0.2126, 0.7152, 0.0722]


@pytest.mark.parametrize("cones", CONES.values(), ids=CONES)
@pytest.mark.parametrize(
    ("ramp", "direction"),
    [
        (palette.LIGHT, -1),
        (palette.MORE_LIGHT, -1),
        (palette.DARK, 1),
        (palette.MORE_DARK, 1),
    ],
)
def test_luminance_is_monotone(ramp, direction, cones):
    steps = np.diff(luminance(palette.lookup(ramp, 64) / 255, cones))
    assert (direction * steps > 0).all()


def test_lookup_goes_from_first_to_last():
    colours = palette.lookup(("#000000", "#0a141e"), 11)
    assert colours[0].tolist() == [0, 0, 0]
    assert colours[5].tolist() == [5, 10, 15]
    assert colours[-1].tolist() == [10, 20, 30]
