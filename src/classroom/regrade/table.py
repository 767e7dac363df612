"""What a trial found, as text for a terminal."""

from classroom.regrade.changes import Changes, StudentChange
from classroom.regrade.trial import Trial
from classroom.report import listing


def render(assignment: str, trial: Trial, changes: Changes) -> str:
    """What is new about the cells, whose points change and why, what stays as it is."""
    count = len(changes.students)
    blocks = [
        f"{assignment}: {_submissions(len(trial.students))} graded again on {trial.time}, "
        f"{count or 'none'} with other points"
    ]
    if changes.cells:
        cells = [(name, words) for (_, name), words in changes.cells.items()]
        blocks.append(listing("The lesson's cells", cells))
    if changes.students:
        blocks.append("\n".join(["Points", *map(_student, changes.students)]))
    if changes.by_hand:
        cells = [(student, ", ".join(names)) for student, names in changes.by_hand.items()]
        blocks.append(listing("Graded by hand: the points stay, look whether they hold", cells))
    if trial.left:
        blocks.append(listing("Not graded again: the points stay", trial.left.items()))
    return "\n\n".join(blocks)


def _student(change: StudentChange) -> str:
    lines = [f"{change.before:g} → {change.after:g}"]
    lines += [
        f"    {cell.cell} {_points(cell.before)} → {_points(cell.after)}: {cell.why}"
        for cell in change.cells
    ]
    _, first = listing("", [(change.student, lines[0])]).split("\n")
    return "\n".join([first, *lines[1:]])


def _points(points: float | None) -> str:
    return "none" if points is None else f"{points:g}"


def _submissions(count: int) -> str:
    return f"{count} submission{'s' * (count != 1)}"
