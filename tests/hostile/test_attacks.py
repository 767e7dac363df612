"""No hostile submission gains a point over the same one without its hostile part."""

import pytest
from attacks import ATTACKS
from submissions import ALL_POINTS, WRONG, at_the_head, notebook, points, text

from classroom.grading.watchdog import descendants


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_attack_gains_nothing(attack, worker, grade_briefly, baseline, outside, honest, note):
    begin = 'print("the attack begins")\n'
    before, after = (outside.fill_in(part) for part in (attack.before, attack.after))
    job = notebook(WRONG, before=begin + before, after=after)

    # The first words of one that is not silent are to be seen, even where the machine is slow.
    grace = 0.5 if attack.silent else 30.0
    result = at_the_head(grade_briefly(job, grace=grace))
    earned, shown = points(job, result), text(result)
    next_one = points(honest, worker.grade(honest))

    note("hostile", "attacks")
    note("hostile", "gained" if earned - baseline else "gained nothing")
    assert result.ran.keys() == {cell.index for cell in job.cells}
    assert earned <= baseline
    assert "ESCAPED" not in shown
    assert attack.silent or "the attack begins" in shown
    assert outside.untouched()
    assert next_one == ALL_POINTS
    if worker.confinement is not None:
        host = worker.confinement.host.pid
        assert list(descendants(host, at_most=10)) == [host]


def test_wrong_answers_keep_their_shapes(baseline):
    assert baseline == {p for p in ALL_POINTS if "shape" in p}


def test_there_are_enough_attacks_and_no_two_alike():
    assert len({attack.name for attack in ATTACKS}) == len(ATTACKS) >= 40
