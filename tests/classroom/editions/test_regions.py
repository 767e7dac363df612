import pytest

from classroom.editions.regions import (
    HIDDEN_TESTS,
    SOLUTION,
    has_marker,
    regions,
    without_markers,
)

EXERCISE = """\
def f(x):
    ### BEGIN SOLUTION
    if x:
        return 1
    ### END SOLUTION
"""


def test_a_region_is_dedented():
    assert regions(EXERCISE, SOLUTION) == ["if x:\n    return 1"]


def test_regions_of_another_kind_are_not_found():
    assert regions(EXERCISE, HIDDEN_TESTS) == []


def test_every_region_is_found():
    assert regions(EXERCISE + EXERCISE, SOLUTION) == ["if x:\n    return 1"] * 2


@pytest.mark.parametrize(
    "source",
    [
        "### BEGIN SOLUTION\nx = 1",
        "x = 1\n### END SOLUTION",
        "### BEGIN SOLUTION\n### BEGIN SOLUTION\n### END SOLUTION",
    ],
)
def test_a_marker_without_a_partner_is_refused(source):
    with pytest.raises(ValueError, match="has no partner"):
        regions(source, SOLUTION)


def test_a_marker_that_only_nbgrader_would_take_is_refused():
    with pytest.raises(ValueError, match="`# BEGIN SOLUTION` is no marker"):
        regions("# BEGIN SOLUTION\nx = 1\n# END SOLUTION", SOLUTION)


def test_markers_go_and_what_they_enclose_stays():
    assert without_markers(EXERCISE) == "def f(x):\n    if x:\n        return 1"


@pytest.mark.parametrize("line", ["### END SOLUTION", "# BEGIN HIDDEN TESTS", "BEGIN SOLUTION!"])
def test_whatever_nbgrader_takes_for_a_marker_is_one(line):
    assert has_marker(f"x = 1\n{line}")


def test_plain_code_has_no_marker():
    assert not has_marker("begin = solution")
