"""``play``: the learner's own function behind sliders, recomputed by the kernel at every move.

Only core ipywidgets are used. The controls are widgets; the picture is the canvas of
``show_heads``. The kernel writes each new scene into a hidden HTML widget, which the canvas
watches. Where no widget can be shown, the canvas has the grid of ``explore`` instead.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from functools import cached_property
from html import escape

import ipywidgets as widgets
from IPython.display import display

from attention_lab.heatmap import page
from attention_lab.heatmap.display import is_grading
from attention_lab.heatmap.explore import compute, grid, read_options, read_words
from attention_lab.heatmap.failure import describe
from attention_lab.heatmap.payload import to_json
from attention_lab.heatmap.scene import Control, Frame
from attention_lab.heatmap.show import Heatmap

# Without a kernel a few values of a slider will do.
_FEW = 3
_WRAPPED = {"flex_flow": "row wrap", "grid_gap": "0 16px"}
_WHOLE_NAME = {"description_width": "initial"}
_WIDGET = "application/vnd.jupyter.widget-view+json"


def play(fn: Callable, tokens, *, head: int = 0, title: str | None = None, **options) -> Player:
    """Show the weights ``fn`` gives, with a sentence to edit and its options to move.

    Arguments as in ``explore``. What ``fn`` raises is shown in place of the picture, until the
    sentence or an option makes it work again. Names that ``fn`` uses are looked up at each call,
    so a step that is written anew is used from the next move on.
    """
    return Player(fn, read_words(tokens), read_options(fn, options), head, title)


class Player(Heatmap):
    """A heatmap with widgets; without a kernel, a heatmap of a grid of results."""

    def __init__(self, fn: Callable, words: tuple, controls: tuple[Control, ...], head, title):
        self.fn = fn
        self.controls = controls
        self.title = title
        self.head = head
        self.channel = f"heads-{uuid.uuid4().hex[:12]}"
        self._words = words
        super().__init__(grid(fn, words, tuple(map(_thin, controls)), attempt, head, title))

    @cached_property
    def sentence(self) -> widgets.Text:
        """The widget to edit the sentence in."""
        return self._watched(
            widgets.Text(
                " ".join(self._words),
                description="sentence",
                continuous_update=False,
                style=_WHOLE_NAME,
                layout={"width": "auto", "max_width": "640px"},
            )
        )

    @cached_property
    def options(self) -> dict[str, widgets.Widget]:
        """The widgets to move the options with."""
        return {control.name: self._watched(_widget(control)) for control in self.controls}

    @cached_property
    def _data(self):
        return widgets.HTML(self._message(), layout={"display": "none"})

    def _ipython_display_(self):
        """Widgets are made for a reader: there is none while a notebook is graded."""
        sliders = {"text/plain": "(The sliders need a running kernel.)"}
        if not is_grading():
            options = widgets.HBox([*self.options.values()], layout=_WRAPPED)
            box = widgets.VBox([self.sentence, options, self._data])
            sliders[_WIDGET] = {"version_major": 2, "version_minor": 0, "model_id": box.model_id}
        display(sliders, raw=True)
        display(self._repr_mimebundle_(), raw=True)

    def _html(self, image: bytes) -> str:
        return page.heatmap_html(self.scene, image, self.channel)

    def _watched(self, widget):
        widget.observe(self._recompute, "value")
        return widget

    def _recompute(self, change):
        self._data.value = self._message()

    def _message(self) -> str:
        """A scene, of the sentence and the options as they are, for the canvas to read."""
        options = {name: widget.value for name, widget in self.options.items()}
        words = tuple(self.sentence.value.split())
        scene = grid(self.fn, words, (), _with(options), self.head, self.title)
        return f'<span class="{self.channel}">{escape(to_json(scene))}</span>'


def attempt(fn: Callable, words: tuple[str, ...], options: dict) -> Frame:
    """As ``compute``, but what goes wrong becomes the text of a failed frame."""
    try:
        return compute(fn, read_words(words), options)
    except Exception as error:
        return Frame.failed(describe(error))


def _with(options: dict):
    return lambda fn, words, _: attempt(fn, words, options)


def _widget(control: Control) -> widgets.Widget:
    value = control.values[control.start]
    if isinstance(value, bool):
        return widgets.ToggleButton(value, description=control.name)
    choice = widgets.ToggleButtons if isinstance(value, str) else widgets.SelectionSlider
    return choice(options=control.values, value=value, description=control.name, style=_WHOLE_NAME)


def _thin(control: Control) -> Control:
    """The same control with its first, its starting and its last value, if it has many; while
    grading, where nothing can be moved, with its starting value alone."""
    last = len(control.values) - 1
    if is_grading():
        kept = [control.start]
    elif last < _FEW or isinstance(control.values[0], str):
        return control
    else:
        kept = sorted({0, control.start, last})
    return Control(control.name, tuple(control.values[i] for i in kept), kept.index(control.start))
