"""What `settle` puts in place for good is tried in a fork."""

import pytest

from classroom.grading.sandbox import elsewhere


def test_everything_of_colab_is_there_and_idle(in_fork):
    def use():
        elsewhere.settle()
        import google.colab.output
        from google.colab import drive, files, userdata

        assert drive.mount("/content/drive", force_remount=True) is None
        assert userdata.get("KEY") == ""
        assert files.upload() == {}
        assert google.colab.output.eval_js("1") is None

    assert in_fork(use) == 0


def test_nothing_else_is_found(in_fork):
    def use():
        elsewhere.settle()
        with pytest.raises(ImportError):
            import google.nowhere  # noqa: F401

    assert in_fork(use) == 0


def test_questions_are_answered_with_nothing(in_fork, capsys):
    def ask():
        elsewhere.settle()
        assert input("Who? ") == ""

    assert in_fork(ask) == 0


def test_compiled_functions_are_those_that_were_written():
    def f():
        pass

    assert elsewhere.uncompiled(f) is f
    assert elsewhere.uncompiled(f, mode="max-autotune") is f
    assert elsewhere.uncompiled(fullgraph=True)(f) is f


def test_settings_that_come_too_late_are_no_errors():
    def refuse(number):
        raise RuntimeError(number)

    assert elsewhere._lenient(refuse)(4) is None
