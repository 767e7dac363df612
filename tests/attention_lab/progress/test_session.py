import sys
from types import ModuleType, SimpleNamespace

import IPython.display
import pytest

from attention_lab.progress import session
from attention_lab.progress.record import Record, load
from attention_lab.progress.session import FILE, Session


@pytest.fixture
def shown(monkeypatch):
    """What was shown, and what was brought up to date: (pages shown, pages updated)."""
    shown, updated = [], []
    monkeypatch.setattr(IPython.display, "display", lambda page, display_id: shown.append(page))
    monkeypatch.setattr(
        IPython.display, "update_display", lambda page, display_id: updated.append(page)
    )
    return shown, updated


@pytest.fixture
def kept(tmp_path, shown):
    return Session(tmp_path / FILE)


def test_every_verdict_is_kept_and_shown(kept, shown, tmp_path):
    kept.show()
    kept.note("attend", None, False, None)
    assert shown[0][0].points == shown[1][0].points == 2
    assert load(tmp_path / FILE) == kept.record
    assert Session(tmp_path / FILE).record.passes("attend")


def test_a_panel_says_where_it_is_kept(kept, monkeypatch):
    assert "beside this notebook" in kept.page().kept
    monkeypatch.setitem(sys.modules, "google.colab", ModuleType("google.colab"))
    assert "as long as this runtime" in kept.page().kept


def test_a_folder_that_cannot_be_written_to_is_told(tmp_path, shown):
    lost = Session(tmp_path / "nowhere" / FILE)
    lost.note("attend", None, False, None)
    assert "cannot be written to" in lost.page().kept


def test_what_is_not_kept_shows_nothing(shown):
    unkept = Session(None)
    unkept.show()
    unkept.note("attend", None, False, None)
    assert shown == ([], [])
    assert unkept.page().kept == ""
    assert unkept.record.passes("attend")


@pytest.mark.parametrize(
    ("shell", "grading", "is_kept"),
    [
        (None, "", False),
        (SimpleNamespace(), "", False),
        (SimpleNamespace(kernel=1), "", True),
        (SimpleNamespace(kernel=1), "autograde", False),
    ],
)
def test_only_a_learners_notebook_keeps_a_record(shell, grading, is_kept, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NBGRADER_EXECUTION", grading)
    if shell is not None:
        monkeypatch.setattr(session, "get_ipython", lambda: shell, raising=False)
    found = Session.of_this_kernel()
    assert found.record == Record()
    assert found.path == (tmp_path / FILE if is_kept else None)
