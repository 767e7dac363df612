"""What an exercise raises until it is solved."""


class NotWrittenYet(NotImplementedError):
    """Raised by the stub of an exercise; a notebook shows one friendly line, no traceback."""

    def _render_traceback_(self):
        return [f"\N{PENCIL} {self}"]

    def __str__(self):
        return super().__str__() or (
            "This step is not written yet: put your code in place of `raise NotWrittenYet`."
        )
