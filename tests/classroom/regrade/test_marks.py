import pytest

from classroom.regrade.marks import Mark, Marks, Note, read_marks

SHAPE, VALUE = ("small", "test_double_shape"), ("small", "test_double_value")


@pytest.mark.parametrize(
    ("mark", "score"),
    [
        (Mark(), None),
        (Mark(auto=0), 0),
        (Mark(auto=2, manual=1), 1),
        (Mark(auto=2, manual=0), 0),
        (Mark(auto=2, extra=0.5), 2.5),
        (Mark(extra=0.5), None),
    ],
)
def test_a_human_overrules_the_autograder(mark, score):
    assert mark.score == score


def test_the_total_is_what_is_left_of_the_points():
    cells = {SHAPE: Mark(auto=1), VALUE: Mark()}
    assert Marks(None, cells).total == 1
    assert Marks(None, cells, {}, {"small": 0.25}).total == 0.75
    assert Marks(None, cells, {}, {"small": 3.0}).total == 0


@pytest.mark.filterwarnings("ignore:Object of type <Submitted:sqlalchemy.exc.SAWarning")
def test_all_that_the_gradebook_has_is_read(graded):
    graded.by_hand("bob", "test_double_value", 1.5, "nearly")
    with graded.gradebook() as gradebook:
        notebook = gradebook.find_submission_notebook("small", "small", "bob")
        notebook.late_submission_penalty = 0.5
        notebook.flagged = True
        gradebook.db.commit()
        marks = read_marks(gradebook, "small")
        assert read_marks(gradebook, "other") == {}
    assert marks["ada"].cells == {
        SHAPE: Mark(1, None, None, False),
        VALUE: Mark(2, None, None, False),
    }
    assert marks["bob"] == Marks(
        None,
        {SHAPE: Mark(1, None, None, False), VALUE: Mark(0, 1.5, None, False)},
        {("small", "double"): Note(None, "nearly")},
        {"small": 0.5},
        {"small": True},
    )
