"""Whether a learner has named the fault of the stranger's layer that their number draws."""

from attention_lab.check.mistake import Mistake
from attention_lab.check.run import tell
from attention_lab.stranger import FAULTS, fault_of


def fault(named: str, number: int) -> None:
    """Check the name of a fault. Prints that it is right.

    Raises:
        Mistake: the layer that the number draws has another fault, or there is no such name.
    """
    mistake = _mistake(named, number)
    tell("fault", None, True, mistake)
    if mistake:
        raise mistake
    print(f"\N{CHECK MARK} fault: {named!r} it is.")


def _mistake(named, number):
    try:
        right = fault_of(number)
    except TypeError as error:
        means = "the number says which layer is meant."
        return Mistake("fault", "value", str(error), means, "the cell that shows the layer.")
    if named == right:
        return None
    if named is None:  # as the exercise is released
        look = "write a name in place of `None`, run that cell, then this one."
        return Mistake("fault", "value", "not written yet.", "", look)
    if named not in FAULTS:
        seen, means = f"{named!r} is not one of the names", f"they are {', '.join(FAULTS)}."
        return Mistake("fault", "value", seen, means, "the table above the exercise.")
    seen = f"the layer of number {number} was said to have the fault {named!r}"
    means = "with that fault it would look different."
    look = "do rows sum to 1? is the future closed, and only that? do the words fit the heads?"
    return Mistake("fault", "value", seen, means, look)
