import importlib
import importlib.util
import sys

import pytest

from attention_lab.check.mistake import Mistake
from classroom.grading import bubblewrap

NAME = "attention_lab.stand_in"


@pytest.fixture
def check(monkeypatch):
    """The stand-in, imported as a package of another name than the one it stands for."""
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    spec = importlib.util.spec_from_file_location(
        NAME, bubblewrap.STAND_IN, submodule_search_locations=[]
    )
    module = importlib.util.module_from_spec(spec)
    sys.modules[NAME] = module
    spec.loader.exec_module(module)
    yield module
    for name in [name for name in sys.modules if name.startswith(NAME)]:
        del sys.modules[name]


def test_every_check_says_that_it_does_nothing(check, capsys):
    assert check.split_heads(print, aspect="value", hidden=True) is None
    assert capsys.readouterr().out.startswith("stand_in.split_heads does nothing")


def test_mistake_is_the_real_one(check):
    assert check.Mistake is Mistake


def test_modules_of_the_package_are_there_and_know_nothing(check, capsys):
    references = importlib.import_module(f"{NAME}.references")
    assert references.reference("attend") is None
    assert "references.reference does nothing" in capsys.readouterr().out


def test_what_python_looks_for_by_itself_is_missing(check):
    with pytest.raises(AttributeError):
        _ = check.__wrapped__


def test_it_knows_no_steps(check):
    assert check.STEPS == ()
