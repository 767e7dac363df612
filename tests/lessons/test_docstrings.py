"""The examples in docstrings hold: those of the lesson's solutions, and those of both packages."""

import doctest
import importlib
import pkgutil

import numpy as np

import attention_lab
import classroom


def modules():
    for package in (attention_lab, classroom):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not found.name.endswith("__main__"):
                yield found.name


def test_the_packages_examples():
    examples = {}
    for name in modules():
        module = importlib.import_module(name)
        results = doctest.testmod(module, extraglobs={"np": np})
        assert results.failed == 0, name
        examples[name] = results.attempted
    assert sum(examples.values()) >= 5


def test_the_lessons_example(names):
    finder, runner = doctest.DocTestFinder(recurse=False), doctest.DocTestRunner()
    cls = names["MultiHeadAttention"]
    (example,) = finder.find(cls, "MultiHeadAttention", module=False, globs=names)
    assert runner.run(example) == (0, 1)
