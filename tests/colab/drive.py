"""Runs as a notebook's last cell: moves every widget that the notebook made, as a learner might,
and prints as JSON what became of them.
"""

import json

from ipywidgets import Text, ToggleButton, Widget

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


everything = list(Widget.widgets.values())
players = [each for each in Out.values() if isinstance(each, Player)]  # noqa: F821
theirs = [part for player in players for part in (*player.options.values(), player.sentence)]
others = [each for each in everything if each.model_id not in {part.model_id for part in theirs}]
report = {
    "players": [play(each) for each in players],
    "others": sum(1 for each in others for _ in move(each)),
}
print(json.dumps(report))
