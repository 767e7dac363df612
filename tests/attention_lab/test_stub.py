import pytest

from attention_lab import NotWrittenYet


def test_a_stub_says_in_one_line_what_to_do():
    with pytest.raises(NotImplementedError, match="put your code in place") as caught:
        raise NotWrittenYet
    (line,) = caught.value._render_traceback_()
    assert "not written yet" in line
    assert "\n" not in line
