import pytest

from attention_lab.check import STEPS
from attention_lab.progress.exercises import read_exercises


@pytest.fixture(scope="module")
def exercises():
    return read_exercises()


def test_every_step_is_an_exercise_with_points_for_shape_and_value(exercises):
    graded = {name: each.points for name, each in exercises.items() if each.points}
    assert tuple(graded) == (*STEPS, "fault", "MendedAttention")
    assert all(list(graded[name]) == ["shape", "value"] for name in STEPS)
    assert graded["fault"] == graded["MendedAttention"] == {"value": 1}
    assert sum(sum(points.values()) for points in graded.values()) == 26


@pytest.mark.parametrize("name", STEPS)
def test_a_stub_defines_its_name_and_is_not_solved(exercises, name):
    assert exercises[name].stub.startswith(("def ", "class "))
    assert name in exercises[name].stub
    assert exercises[name].stub.count("raise NotWrittenYet") == 1


def test_exercises_without_points_are_there_as_well(exercises):
    assert exercises["one_query"].points == {}
