from classroom.grading.limits import Limits
from classroom.grading.patience import HURRIED, MAX_IN_VAIN, Patience


def test_who_was_waited_for_in_vain_has_little_time():
    patience = Patience(Limits())
    for _ in range(MAX_IN_VAIN):
        assert patience.seconds == Limits().cell
        patience.was_in_vain()
    assert patience.is_short
    assert patience.seconds == HURRIED


def test_nobody_has_more_than_is_left():
    assert 9 < Patience(Limits(submission=10)).seconds <= 10
    over = Patience(Limits(submission=0))
    assert over.is_over
    assert over.seconds == 0
    assert "0 seconds in all" in over.in_all


def test_short_cells_stay_short():
    patience = Patience(Limits(cell=1))
    for _ in range(MAX_IN_VAIN):
        patience.was_in_vain()
    assert patience.seconds == 1
