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
    def mistake(seen, means, look):
        return Mistake("fault", "value", seen, means, look)

    try:
        right = fault_of(number)
    except TypeError as error:
        look = "the first line of the cell that answers this."
        return mistake(str(error), "the number says which layer is meant.", look)
    if named is None:  # as the exercise is released
        look = 'write `fault = "..."` in place of `raise NotWrittenYet`, and run that cell.'
        return mistake("not written yet.", "", look)
    if not isinstance(named, str) or named not in FAULTS:
        means = f"they are {', '.join(FAULTS)}."
        look = "the table above the exercise."
        return mistake(f"{named!r:.60} is not one of the names", means, look)
    if named == right:
        return None
    seen = f"the layer of number {number} was said to have the fault {named!r}"
    means = "with that fault it would look different."
    look = "do rows sum to 1? is the future closed, and only that? do the words fit the heads?"
    return mistake(seen, means, look)
