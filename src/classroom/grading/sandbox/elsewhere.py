"""What notebooks find where they were written and a sandbox has not: it is there, and idle."""

import builtins
import getpass
import importlib.abc
import importlib.machinery
import sys
import types
from contextlib import suppress

import torch

COLAB = "google.colab"
GIVES = {f"{COLAB}.userdata.get": "", f"{COLAB}.files.upload": {}}


def settle():
    """Have all that is run from now on find it."""
    sys.meta_path.append(_Finder())
    builtins.input = getpass.getpass = _nobody_answers
    torch.set_num_interop_threads = _lenient(torch.set_num_interop_threads)
    torch.compile = uncompiled


def uncompiled(model=None, **_):
    """Stands for `torch.compile`: the same function runs as it was written, which takes no minute
    to begin with, and lets it be seen what it calls."""
    return (lambda function: function) if model is None else model


def _nobody_answers(prompt="", *_, **__):
    if prompt:
        print(prompt)
    return ""


def _lenient(function):
    """`function`, which torch refuses as soon as it has computed something; here it always has."""

    def call(*arguments):
        with suppress(RuntimeError):
            function(*arguments)

    return call


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds, after all others, any module of Colab's."""

    def find_spec(self, fullname, path=None, target=None):
        if fullname in ("google", COLAB) or fullname.startswith(f"{COLAB}."):
            return importlib.machinery.ModuleSpec(fullname, self, is_package=True)
        return None

    def create_module(self, spec):
        return _Idle(spec.name)

    def exec_module(self, module):
        pass


class _Idle(types.ModuleType):
    """A module whose every name is one that does nothing, when it is called or looked into."""

    def __getattr__(self, name):
        if name.startswith("__") or self.__name__ == "google":
            raise AttributeError(name)
        return _Idle(f"{self.__name__}.{name}")

    def __call__(self, *_, **__):
        return GIVES.get(self.__name__)
