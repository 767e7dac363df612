import pytest

from attention_lab.check.catalogue.entry import Known


@pytest.fixture
def known():
    known = Known("attend")

    @known("plain-mean")
    def mean(weights, v):
        """It is
        a mean.

        Look: the weights.
        Seen in: a/b#1, c/d#2
        """
        return v.mean()

    known.variants("plain-mean", max)
    known.behaviour("odd", "It is odd.\n\nLook: again.")
    return known


def test_a_docstring_is_the_explanation(known):
    entry, odd = known
    assert (entry.slug, entry.step) == ("plain-mean", "attend")
    assert (entry.means, entry.look) == ("It is a mean.", "the weights.")
    assert entry.seen_in == ("a/b#1", "c/d#2")
    assert [f.__name__ for f in entry.faulty] == ["mean", "max"]
    assert (odd.means, odd.look, odd.seen_in, odd.faulty) == ("It is odd.", "again.", (), ())


def test_a_text_without_where_to_look_is_refused(known):
    with pytest.raises(KeyError, match="Look"):
        known.behaviour("vague", "It is wrong.")


def test_another_step_takes_over_what_it_has_no_words_for(known):
    whole = Known("MultiHeadAttention")
    whole.behaviour("plain-mean", "In a class.\n\nLook: here.")
    whole.take_over(known, without={"odd"}, changed=lambda faulty: faulty.__name__)
    (entry,) = whole
    assert entry.means == "In a class."
    assert entry.faulty == ("mean", "max")
