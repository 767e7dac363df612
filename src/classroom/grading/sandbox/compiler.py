"""Keeps torch from importing its compiler, two seconds of work, before anybody compiles.

Many of torch's own functions are not to be compiled, and at their first call tell the compiler so.
"""

import importlib.util
import sys
import types

NAME = "torch._dynamo"


def put_off():
    """From now on, import the compiler only when more is wanted of it."""
    if NAME not in sys.modules:
        sys.modules[NAME] = _NotYet(NAME)


class _NotYet(types.ModuleType):
    """Stands for the compiler until then."""

    def __init__(self, name):
        super().__init__(name)
        self.__spec__ = importlib.util.find_spec(name)
        self.__file__ = self.__spec__.origin

    def disable(self, function, *_, **__):
        """Leave `function` as it is."""
        return function

    def graph_break(self, *_, **__):
        """Nothing is being compiled that could be broken off; optimizers say this at each step."""

    def __getattr__(self, name):
        if name.startswith("__") and name != "__path__":  # asked of any module
            raise AttributeError(name)
        if sys.modules.get(NAME) is self:
            del sys.modules[NAME]
        return getattr(importlib.import_module(NAME), name)
