"""What a graded cell sees in place of the learner's names."""

import builtins
import symtable
from functools import lru_cache

from attention_lab import observation
from attention_lab.observation.probe import Value
from classroom.grading.learner import NoAnswer, Observer, Unanswered


class Handle(observation.RemoteAnswer):
    """A learner's function or class, in its own process: it can be checked, or called with tensors
    and other plain data.

    proven: the steps for which its shape is right as it stands. wanted_steps: whether a check
    would have shown right steps to it. shows_steps: whether a check may do so. definition: its
    text, where nothing is left to judge and the line that is wrong may be looked for.
    """

    def __init__(
        self,
        name: str,
        observer: Observer,
        show_steps: bool,
        definition: observation.Definition | None = None,
    ):
        self.__name__ = name
        self.definition = definition
        self._is_edited = False
        self.proven = set()
        self.wanted_steps = False
        self._observer = observer
        self.shows_steps = show_steps

    def observe(self, request: bytes) -> bytes:
        """Pass a request on; one that shows right steps only if that is allowed by now."""
        if not self.shows_steps and _shows_steps(request):
            self.wanted_steps = True
            raise NoAnswer(f"{self.__name__} is tried again at the end, with right steps.")
        try:
            return self._observer.ask("observe", self.__name__, request, _shows_steps(request))[1]
        except Unanswered as error:
            if _shows_steps(request) or not _is_about_a_class(request):
                raise
            return _failed(request, str(error))

    def observe_edited(self, text: str, given: str, request: bytes, again: bool) -> bytes:
        if not self._is_edited:
            self._observer.begin_to_edit(self.__name__, self.definition.text, given)
            self._is_edited = True
        return self._observer.observe_edited(self.__name__, text, request, again)

    def has_right_shape(self, step: str):
        """Be told that a hidden check has found it right for `step`."""
        if not self.shows_steps:
            self.proven.add(step)

    def __call__(self, *args):
        header, payload = self._observer.ask("call", self.__name__, observation.encode(args))
        if "failed" in header:
            raise NoAnswer(f"{self.__name__} raised {str(header['failed'])[:1000]}")
        return _data(self.__name__, header, payload)


class Nobody(observation.RemoteAnswer):
    """Stands for a learner's function before there is a learner."""

    def __init__(self, name: str):
        self.__name__ = name

    def observe(self, request: bytes) -> bytes:
        raise NoAnswer(f"Nobody has written {self.__name__}.")

    def __call__(self, *args):
        self.observe(b"")


class Proven(observation.RemoteAnswer):
    """Stands for a learner's function whose shape was found right for `steps`, without a process.

    was_asked: whether anybody wanted to know more of it than that.
    """

    def __init__(self, name: str, steps: set[str]):
        self.__name__ = name
        self.steps = steps
        self.was_asked = False

    def observe(self, request: bytes) -> bytes:
        self.was_asked = True
        raise NoAnswer(f"{self.__name__} is not here to be asked.")

    def __call__(self, *args):
        self.observe(b"")


@lru_cache(maxsize=64)  # the same for a class of students
def _decoded(request):
    return observation.decode(request, observation.Request)


def _shows_steps(request):
    return bool(_decoded(request).substitutes)


def _is_about_a_class(request):
    """Whether it may be tried again with right steps in place of the learner's own."""
    return any(probe.module is not None for probe in _decoded(request).probes)


def _failed(request, reason):
    """What is observed where nothing came back: the same for each trial."""
    seen = observation.Observation(failure=observation.Failure("NoAnswer", reason))
    return observation.encode((seen,) * len(_decoded(request).probes))


def bind(
    names: list[str],
    observer: Observer,
    show_steps: bool,
    definitions: dict[str, observation.Definition] | None = None,
) -> dict[str, object]:
    """What each of `names` is for the learner: a Handle or a copy of plain data; those that the
    learner has not defined are left out. Raises NoAnswer for anything else.

    show_steps: whether a check may send the course's right steps to the submission. definitions: of
    the names in which the line that is wrong may be looked for.
    """
    found = {}
    for name in names:
        header, payload = observer.ask("describe", name)
        match header.get("is"):
            case "missing":
                continue
            case "callable":
                found[name] = Handle(name, observer, show_steps, (definitions or {}).get(name))
            case "data":
                found[name] = _data(name, header, payload)
            case _:
                kind = str(header.get("type"))[:80]
                raise NoAnswer(
                    f"{name} is a {kind}: a graded cell can use functions, classes, tensors, "
                    "numbers, text, and tuples, lists and dicts of them."
                )
    return found


def _data(name, header, payload):
    if "json" in header:
        return header["json"]
    try:
        return observation.decode(payload, Value)
    except observation.Malformed as error:
        raise NoAnswer(f"what came back from {name} is no plain data ({error}).") from None


def names_used(source: str) -> list[str]:
    """The global names that a cell uses without defining them itself, builtins left out."""
    table = symtable.symtable(source, "<graded cell>", "exec")
    return sorted(_referenced(table) - names_defined(source) - set(dir(builtins)))


def names_defined(source: str) -> set[str]:
    """The global names that a cell defines."""
    table = symtable.symtable(source, "<graded cell>", "exec")
    return {s.get_name() for s in table.get_symbols() if s.is_assigned() or s.is_imported()}


def _referenced(table):
    top = table.get_type() == "module"
    names = {
        symbol.get_name()
        for symbol in table.get_symbols()
        if symbol.is_referenced() and (top or symbol.is_global())
    }
    return names.union(*map(_referenced, table.get_children()))
