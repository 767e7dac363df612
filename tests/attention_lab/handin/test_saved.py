import json
import sys
from types import SimpleNamespace

import pytest

from attention_lab.handin import saved
from attention_lab.handin.saved import NotFound, saved_notebook

CONTENT = {"cells": [], "nbformat": 4}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    return tmp_path


def save(path, content=CONTENT):
    path.write_text(json.dumps(content))
    return path


def test_the_only_notebook_of_the_folder(folder):
    save(folder / "any name.ipynb")
    assert saved_notebook().path.name == "any name.ipynb"
    assert saved_notebook().content == CONTENT


def test_jupyter_tells_the_name_in_the_environment(folder, monkeypatch):
    save(folder / "one.ipynb")
    monkeypatch.setenv("JPY_SESSION_NAME", str(save(folder / "two.ipynb")))
    assert saved_notebook().path.name == "two.ipynb"


def test_a_name_that_is_no_longer_true_is_passed_over(folder, monkeypatch):
    save(folder / "renamed.ipynb")
    monkeypatch.setenv("JPY_SESSION_NAME", str(folder / "before.ipynb"))
    assert saved_notebook().path.name == "renamed.ipynb"


def test_vscode_tells_it_in_the_kernel(folder, monkeypatch):
    save(folder / "one.ipynb")
    path = save(folder / "two.ipynb")
    shell = SimpleNamespace(user_ns={"__vsc_ipynb_file__": str(path)})
    monkeypatch.setattr(saved, "get_ipython", lambda: shell)
    assert saved_notebook().path == path


def test_of_several_the_lessons_own(folder):
    save(folder / "one.ipynb")
    save(folder / "two.ipynb")
    assert saved_notebook(names=("two.ipynb",)).path.name == "two.ipynb"
    with pytest.raises(NotFound, match=r'one\.ipynb, two\.ipynb .* ready_to_submit\("'):
        saved_notebook()


def test_none_at_all():
    with pytest.raises(NotFound, match="no notebook in this folder"):
        saved_notebook()


@pytest.mark.parametrize("content", ["", "{", "[]", '{"worksheets": []}', '{"cells": 3}'])
def test_what_is_no_notebook_is_said(folder, content):
    (folder / "broken.ipynb").write_text(content)
    with pytest.raises(NotFound, match=r"broken\.ipynb"):
        saved_notebook("broken.ipynb")


def test_a_byte_order_mark_does_not_matter(folder):
    (folder / "marked.ipynb").write_text(json.dumps(CONTENT), encoding="utf-8-sig")
    assert saved_notebook().content == CONTENT


@pytest.fixture
def colab(monkeypatch):
    """Colab's channel, which answers with `colab.reply`."""
    colab = SimpleNamespace(reply={"ipynb": CONTENT}, asked=[])

    def blocking_request(kind, timeout_sec):
        colab.asked.append(kind)
        if isinstance(colab.reply, Exception):
            raise colab.reply
        return colab.reply

    message = SimpleNamespace(blocking_request=blocking_request, MessageError=ValueError)
    module = SimpleNamespace(_message=message)
    monkeypatch.setitem(sys.modules, "google", SimpleNamespace(colab=module))
    monkeypatch.setitem(sys.modules, "google.colab", module)
    return colab


def test_colab_is_asked_for_what_its_page_shows(colab):
    assert saved_notebook() == saved.Saved(CONTENT)
    assert colab.asked == ["get_ipynb"]


@pytest.mark.parametrize("reply", [None, ValueError("the page is gone")])
def test_colab_may_not_answer(colab, reply):
    colab.reply = reply
    with pytest.raises(NotFound, match="did not answer"):
        saved_notebook()
