"""Stands for `attention_lab.check` inside the sandbox, where nothing may know what is right.

The checks that count run outside. In there, every check says so and does nothing, and so does
whatever else of the package is imported.
"""

import importlib.abc
import importlib.machinery
import sys
import types

from attention_lab.check.mistake import Mistake

STEPS = ()

__all__ = ["STEPS", "Mistake"]


def _not_here(module, name):
    """What stands for `module.name`."""
    if name.startswith("_"):
        raise AttributeError(name)
    called = f"{module.removeprefix('attention_lab.')}.{name}"

    def not_here(*args, **kwargs):
        print(f"{called} does nothing in this cell while grading: the graded cells judge.")

    return not_here


class _Absent(types.ModuleType):
    def __getattr__(self, name):
        return _not_here(self.__name__, name)


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds, after all others, any module of this package."""

    def find_spec(self, fullname, path=None, target=None):
        if fullname.startswith(__name__ + "."):
            return importlib.machinery.ModuleSpec(fullname, self, is_package=True)
        return None

    def create_module(self, spec):
        return _Absent(spec.name)

    def exec_module(self, module):
        pass


sys.meta_path.append(_Finder())


def __getattr__(name):
    return _not_here(__name__, name)
