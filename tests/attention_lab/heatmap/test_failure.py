import pytest

from attention_lab import NotWrittenYet, example
from attention_lab.heatmap.failure import describe


def learner():
    return [][1]


def test_error_and_the_learner_s_own_line():
    try:
        learner()
    except IndexError as error:
        text = describe(error)
    assert text.startswith("IndexError: list index out of range\nin learner, line ")
    assert text.endswith("return [][1]")


def test_what_the_package_says_stands_by_itself():
    with pytest.raises(ValueError, match="1 to 8 words") as caught:
        example.embed(["word"] * 9)
    assert describe(caught.value) == "The example takes 1 to 8 words; these are 9."


def test_unsolved_is_friendly():
    assert describe(NotWrittenYet()) == str(NotWrittenYet())
