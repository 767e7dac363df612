import numpy as np
import pytest

from attention_lab.heatmap import follow, show_features, show_heads
from attention_lab.heatmap.display import bundle
from attention_lab.heatmap.follow import STEPS


def test_a_notebook_gets_a_page_a_picture_and_words(monkeypatch):
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    shown = bundle("words", b"picture", lambda: "<p>page</p>")
    assert shown == {
        "text/html": "<p>page</p>",
        "image/png": "cGljdHVyZQ==",
        "text/plain": "words",
    }


@pytest.mark.parametrize(
    "shown",
    [
        show_heads(np.eye(2)[None]),
        show_features(np.eye(2)[None]),
        follow(dict.fromkeys(STEPS, lambda *_: None), "a b"),
    ],
    ids=lambda shown: type(shown).__name__,
)
def test_while_grading_no_page_is_made(monkeypatch, shown):
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    assert set(shown._repr_mimebundle_()) == {"image/png", "text/plain"}
