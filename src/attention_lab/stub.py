"""What an exercise raises until it is solved."""

import traceback


class NotWrittenYet(NotImplementedError):
    """Raised by the stub of an exercise; a notebook shows one friendly line, no traceback."""

    def _render_traceback_(self):
        return [f"\N{PENCIL} {self}"]

    def __str__(self):
        return super().__str__() or (
            f"{self._exercise} is not written yet: put your code in place of "
            "`raise NotWrittenYet`. (Other checks work without it.)"
        )

    @property
    def _exercise(self):
        """The function whose stub it was."""
        frames = [frame for frame, _ in traceback.walk_tb(self.__traceback__)]
        name = frames[-1].f_code.co_qualname if frames else "<module>"
        return "This step" if name == "<module>" else f"`{name}`"
