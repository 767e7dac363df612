"""What a trial found, as text for a terminal."""

from classroom.points import Names
from classroom.regrade.changes import Changes, StudentChange
from classroom.regrade.trial import Trial
from classroom.report import listing


def render(assignment: str, trial: Trial, changes: Changes) -> str:
    """What is new about the cells, whose points change and why, what stays as it is."""
    count = sum(change.before != change.after for change in changes.students)
    known = [
        (notebook, cell) for notebook in changes.definition for cell in changes.definition[notebook]
    ]
    name = Names.of([*known, *changes.cells])
    blocks = [
        f"{assignment}: {_submissions(len(trial.students))} graded again on {trial.time}, "
        f"{count or 'none'} with another total"
    ]
    before, after = changes.maximum
    if before != after:
        blocks.append(
            f"The maximum changes from {before:g} to {after:g} points: change it in the LMS, too"
        )
    if changes.cells:
        cells = [(name(*cell), words) for cell, words in changes.cells.items()]
        blocks.append(listing("The lesson's cells", cells))
    if changes.students:
        students = [_student(change, name) for change in changes.students]
        blocks.append("\n".join(["Points", *students]))
    if changes.by_hand:
        cells = [
            (student, ", ".join(name(*cell) for cell in cells))
            for student, cells in changes.by_hand.items()
        ]
        blocks.append(listing("Graded by hand: the points stay, look whether they hold", cells))
    if trial.left:
        blocks.append(listing("Not graded again: the points stay", trial.left.items()))
    return "\n\n".join(blocks)


def _student(change: StudentChange, name: Names) -> str:
    lines = [f"{change.before:g} → {change.after:g}"]
    lines += [
        f"    {name(*cell.cell)} {_points(cell.before)} → {_points(cell.after)}: {cell.why}"
        for cell in change.cells
    ]
    _, first = listing("", [(change.student, lines[0])]).split("\n")
    return "\n".join([first, *lines[1:]])


def _points(points: float | None) -> str:
    return "none" if points is None else f"{points:g}"


def _submissions(count: int) -> str:
    return f"{count} submission{'s' * (count != 1)}"
