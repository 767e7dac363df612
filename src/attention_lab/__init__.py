"""What a learner imports: checks, heatmaps and the running example of the lesson.

A name is loaded with the module it stands in when it is first asked for, so that a notebook waits
only for what it uses.
"""

from importlib import import_module

_HOME = {
    "NotWrittenYet": "stub",
    "explore": "heatmap",
    "follow": "heatmap",
    "play": "heatmap",
    "ready_to_submit": "handin.ready",
    "show_heads": "heatmap",
}

__all__ = [*_HOME]


def __getattr__(name):
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__():
    return sorted([*globals(), *__all__])
