import pytest

from attention_lab import NotWrittenYet


def test_a_stub_says_in_one_line_what_to_do():
    with pytest.raises(NotImplementedError, match="put your code in place") as caught:
        raise NotWrittenYet
    (line,) = caught.value._render_traceback_()
    assert "not written yet" in line
    assert "\n" not in line


def test_it_names_the_exercise_that_a_later_cell_ran_into():
    class Layer:
        def forward(self):
            raise NotWrittenYet

    with pytest.raises(NotWrittenYet) as caught:
        Layer().forward()
    assert "Layer.forward` is not written yet" in str(caught.value)


def test_it_speaks_even_before_it_is_raised():
    assert str(NotWrittenYet()).startswith("This step is not written yet")
