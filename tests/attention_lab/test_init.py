import subprocess
import sys

import pytest

import attention_lab


@pytest.mark.parametrize("name", attention_lab.__all__)
def test_every_name_is_there(name):
    assert getattr(attention_lab, name).__name__ == name
    assert name in dir(attention_lab)


def test_a_name_that_is_not_there_is_no_attribute():
    with pytest.raises(AttributeError, match="no attribute 'shove_heads'"):
        attention_lab.shove_heads  # noqa: B018


def test_nothing_is_loaded_before_it_is_asked_for():
    code = "import sys, attention_lab; print({'torch', 'numpy', 'ipywidgets'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "set()\n"
