"""What is committed is what the lessons give."""

from classroom.editions import build, differences


def test_a_rebuild_changes_nothing(root, built):
    assert differences(root, built) == []


def test_two_builds_give_the_same_bytes(root, built):
    assert build(root) == built


def test_the_points_are_spread_over_every_exercise(edition, lesson):
    """Each solution cell of a lesson earns points by the graded cells named after it."""
    points = {
        cell.id: cell.metadata.nbgrader.points
        for cell in edition("release").cells
        if cell.metadata.get("nbgrader", {}).get("grade")
    }
    exercises = [cell.id for cell in lesson.cells if cell.metadata.get("solution")]
    assert exercises
    for exercise in exercises:
        assert sum(worth for name, worth in points.items() if name.startswith(f"test_{exercise}"))
