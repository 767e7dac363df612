"""What is committed is what the lessons give."""

from classroom.editions import build, differences


def test_a_rebuild_changes_nothing(root, built):
    assert differences(root, built) == []


def test_two_builds_give_the_same_bytes(root, built):
    assert build(root) == built
