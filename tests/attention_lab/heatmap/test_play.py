import html
import json
import sys

import ipywidgets as widgets
import numpy as np
import pytest

from attention_lab import NotWrittenYet, play


def blend(tokens, temperature=1.0, causal=False, mode="fast"):
    if "dog" in tokens:
        raise ValueError("no dogs")
    scores = np.arange(2.0 * len(tokens) ** 2).reshape(2, len(tokens), -1) / temperature
    return np.exp(scores - scores.max()) / np.exp(scores - scores.max()).sum(-1, keepdims=True)


def sent(player):
    text = player._data.value
    return json.loads(html.unescape(text[text.index("{") : text.rindex("}") + 1]))


def test_moving_an_option_sends_a_new_scene():
    player = play(blend, "the cat")
    before = sent(player)
    player.options["temperature"].value = 4.0
    assert sent(player)["data"] != before["data"]


def test_editing_the_sentence_sends_new_tokens():
    player = play(blend, "the cat")
    player.sentence.value = "a cat sat"
    assert sent(player)["keys"] == ["a", "cat", "sat"]


@pytest.mark.parametrize(
    ("sentence", "error"),
    [("the dog", "ValueError: no dogs\nin blend, line"), ("", "There are no words")],
)
def test_an_error_is_shown_and_left_behind(sentence, error):
    player = play(blend, "the cat")
    player.sentence.value = sentence
    assert sent(player)["frames"][0]["error"].startswith(error)
    player.sentence.value = "the cat"
    assert "error" not in sent(player)["frames"][0]


def test_an_unsolved_step_is_one_friendly_line():
    def unsolved(tokens):
        raise NotWrittenYet

    player = play(unsolved, "the cat")
    assert "not written yet" in sent(player)["frames"][0]["error"]
    assert "not written yet" in player._repr_mimebundle_()["text/plain"]


def test_without_widgets_there_is_a_small_grid():
    player = play(blend, "the cat")
    assert [len(control.values) for control in player.scene.controls] == [3, 2]
    assert set(player._repr_mimebundle_()) == {"text/html", "image/png", "text/plain"}


@pytest.fixture
def shown(monkeypatch):
    """What is displayed."""
    bundles = []
    module = sys.modules["attention_lab.heatmap.play"]  # the package's `play` is the function
    monkeypatch.setattr(module, "display", lambda data, raw: bundles.append(data))
    return bundles


def test_displays_widgets_and_picture(shown):
    play(blend, "the cat")._ipython_display_()
    assert "application/vnd.jupyter.widget-view+json" in shown[0]
    assert "text/html" in shown[1]


def test_while_grading_one_picture_is_made_and_words_stand_for_the_widgets(shown, monkeypatch):
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    monkeypatch.setattr(widgets.Widget, "__init__", None)
    player = play(blend, "the cat", temperature=[0.5, 1.0, 2.0], mode=["fast", "slow"])
    player._ipython_display_()
    assert [control.values for control in player.scene.controls] == [(1.0,), ("fast",)]
    assert shown[0] == {"text/plain": "(The sliders need a running kernel.)"}
    assert set(shown[1]) == {"image/png", "text/plain"}


def test_no_function_is_a_clear_sentence():
    with pytest.raises(TypeError, match="must be a function"):
        play(None, "the cat")
