"""Runs as a notebook's last cell: moves every widget that the notebook made, as a learner might,
and prints as JSON what became of them.
"""

import json
import re
from collections import Counter

from ipywidgets import RadioButtons, Text, ToggleButton, VBox, Widget

from attention_lab.heatmap.play import Player

SENTENCES = ["a b a", "", "one two three four five six seven eight nine", "the cat"]


def values(widget):
    """(trait, values) that a learner can set a widget to; none for what only shows."""
    if hasattr(widget, "options"):
        return "index", range(len(widget.options))
    if isinstance(widget, ToggleButton):
        return "value", [not widget.value, widget.value]
    return "value", SENTENCES if isinstance(widget, Text) else []


def move(widget):
    trait, tried = values(widget)
    for value in tried:
        setattr(widget, trait, value)
        yield value
    if hasattr(widget, "click"):
        widget.click()
        yield "click"


def play(player):
    """Move all that belongs to a player; how many values were tried, and how many pictures seen."""
    pictures = [
        player._data.value for w in (*player.options.values(), player.sentence) for _ in move(w)
    ]
    return {"tried": len(pictures), "pictures": len(set(pictures))}


def said(html):
    return re.sub("<[^>]*>", "", html.value)


def quiz(box):
    """Answer until all is right, each time with a question's next option; all replies, and the
    last text."""
    ask, options, reply, further = box.children
    replies, tried = [], Counter()
    while options.options and not (replies and replies[-1].startswith("✓") and options.disabled):
        question = ask.value.partition("<span")[0]
        options.index = tried[question]
        tried[question] += 1
        replies.append(said(reply))
        if further.layout.display != "none":
            further.click()
    return {"replies": replies, "end": said(ask)}


everything = list(Widget.widgets.values())
players = [each for each in Out.values() if isinstance(each, Player)]  # noqa: F821
boxes = [
    box
    for box in everything
    if isinstance(box, VBox) and any(isinstance(each, RadioButtons) for each in box.children)
]
theirs = [child for box in boxes for child in box.children]
theirs += [part for player in players for part in (*player.options.values(), player.sentence)]
others = [each for each in everything if each.model_id not in {part.model_id for part in theirs}]
report = {
    "players": [play(each) for each in players],
    "quizzes": [quiz(box) for box in boxes],
    "others": sum(1 for each in others for _ in move(each)),
}
print(json.dumps(report))
