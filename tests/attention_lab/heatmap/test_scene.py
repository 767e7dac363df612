import numpy as np
import pytest

from attention_lab.heatmap.scene import Control, Frame, Scene

FRAME = Frame(np.eye(2)[None], np.zeros((1, 2, 2), bool))


def test_last_control_runs_fastest():
    controls = (Control("variant", ("a", "b"), 1), Control("causal", (False, True), 0))
    frames = tuple(Frame(FRAME.weights * i, FRAME.masked) for i in range(4))
    scene = Scene(frames, ("x", "y"), ("x", "y"), controls)
    assert scene.shown is frames[2]
    assert scene.frame_names == ["a, causal off", "a, causal on", "b, causal off", "b, causal on"]


def test_close_ups_are_the_head_and_what_it_is_compared_with():
    controls = (Control("variant", ("a", "b"), 1), Control("causal", (False, True)))
    frames = tuple(Frame(FRAME.weights * i, FRAME.masked) for i in range(4))

    def close_ups(compare):
        return Scene(frames, ("x",), ("x",), controls, compare=compare).close_ups(2)

    assert close_ups(None) == close_ups(("batch", 0)) == [("head 2", frames[2], 2)]
    assert close_ups(2) == [("head 2", frames[2], 2)]
    assert close_ups(1) == [("head 2", frames[2], 2), ("head 1", frames[2], 1)]
    assert close_ups(("variant", 0)) == [
        ("head 2, b", frames[2], 2),
        ("head 2, a", frames[0], 2),
    ]


def test_frames_must_fill_the_grid():
    with pytest.raises(ValueError, match="1 frames for 2 combinations"):
        Scene((FRAME,), ("x",), ("x",), (Control("seed", (0, 1)),))


@pytest.mark.parametrize(("scale", "span"), [(1, (0, 1)), (-2, (-2, 0)), (3, (0, 3))])
def test_colours_span_what_there_is(scale, span):
    assert Frame(FRAME.weights * scale, FRAME.masked).span == span
