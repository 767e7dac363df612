"""What is sent to an answer and what was seen of it: plain data, nothing that runs."""

from dataclasses import dataclass
from enum import Enum, auto

import torch
from torch import Tensor


@dataclass(frozen=True)
class Layer:
    """The numbers of an `nn.Linear`: weight (out, in) and bias (out,), None only of a learner's."""

    weight: Tensor
    bias: Tensor | None


@dataclass(frozen=True)
class Unknown:
    """Stands for an object that is no plain data; only the name of its type is kept."""

    type: str


Value = (
    None
    | bool
    | int
    | float
    | str
    | Tensor
    | torch.dtype
    | torch.device
    | Layer
    | Unknown
    | tuple["Value", ...]
)


@dataclass(frozen=True)
class Call:
    """One call of an answer.

    args: passed by position; a `Layer` becomes an `nn.Linear`.
    upstream: one gradient for each expected output, sent backwards through it; () for no backward.
    constants: positions of arguments that need no gradient, such as a mask.
    layers: what is written into the layers of a module before the call, as an optimiser's step
    would, and whose dtype it takes on; () to leave it as it is.
    elsewhere: all of that, or of the module in a first call, lies on another device than the CPU.
    """

    args: tuple[Value, ...]
    upstream: tuple[Tensor, ...] = ()
    constants: tuple[int, ...] = ()
    layers: tuple[Layer, ...] = ()
    elsewhere: bool = False


@dataclass(frozen=True)
class Module:
    """How to build an answer that is a class: its arguments, and what is written into its layers.

    names: of the layers, in the order of `layers`.
    """

    args: tuple[Value, ...]
    names: tuple[str, ...]
    layers: tuple[Layer, ...]
    training: bool = True


class Tag(Enum):
    """What a trial is for, where that is not its sizes."""

    FLOAT64 = auto()
    STRIDED = auto()  # memory is not in order
    LARGE = auto()  # scores
    LONG = auto()  # sequence
    VALUES = auto()  # zeros, equal ones, whole ones, ...
    NEW_LENGTH = auto()  # that was in no call before
    IN_TURN = auto()  # calls of one instance that differ


@dataclass(frozen=True)
class Given:
    """What a global name or a written number of an answer's code is to be."""

    what: str | int | float
    value: int | float


@dataclass(frozen=True, eq=False)
class Probe:
    """A trial of one answer: calls made one after the other on the same function or instance.

    given: what names and numbers in the answer's code are while it is tried.
    heads: not None where calls into torch are counted, and how many heads there are; 0 where only
    their names matter.

    What only whoever judges needs to know, and is not told to an answer:

    about: what is tried, in words that follow "tried with"; nothing is decided by them.
    tags: what it is for. basic: failing here costs the shape's points too, not only the value's.
    tolerance: absolute plus relative; None where only the law is judged.
    law: the name of a law that relates the calls' outputs.
    around: the trial of another step of which these calls are a stage.
    """

    step: str
    about: str
    calls: tuple[Call, ...]
    module: Module | None = None
    heads: int | None = None
    tags: tuple[Tag, ...] = ()
    basic: bool = False
    tolerance: float | None = 1e-5
    law: str | None = None
    around: "Probe | None" = None
    given: tuple[Given, ...] = ()

    @property
    def asked(self) -> "Probe":
        """The same without what only a judge needs to know."""
        return Probe(self.step, "", self.calls, self.module, self.heads, given=self.given)

    @property
    def elsewhere(self) -> bool:
        """Whether it tries another device than the CPU."""
        return any(call.elsewhere for call in self.calls)

    def layers_at(self, call: int) -> tuple[Layer, ...]:
        """Return what the module's layers hold in a call; () where there is no module."""
        written = (c.layers for c in reversed(self.calls[: call + 1]) if c.layers)
        return next(written, self.module.layers if self.module else ())


@dataclass(frozen=True)
class Request:
    """Probes for one answer.

    substitutes: source text whose functions stand where a class looks for the learner's own earlier
    steps while the probes run.
    mend: name of what is set right meanwhile, see `mends`.
    """

    probes: tuple[Probe, ...]
    substitutes: str = ""
    mend: str = ""


@dataclass(frozen=True)
class Failure:
    """An exception: its type's name, its message, and the learner's line that raised it.

    inside: the name of the substituted step in which it was raised, if it was in one; then the line
    is the one that called it.
    """

    type: str
    message: str
    line: str = ""
    inside: str = ""


@dataclass(frozen=True)
class Outcome:
    """What one call did.

    output: what came back. args: the arguments afterwards, and layers: the module's layers; each ()
    where nothing has changed.
    gradients: of the floating-point arguments (a layer counts for two), then of the module's
    layers; None where none arrived, () where no backward was made.
    """

    output: Value = None
    failure: Failure | None = None
    backward_failure: Failure | None = None
    gradients: tuple[Tensor | None, ...] = ()
    args: tuple[Value, ...] = ()
    layers: tuple[Layer, ...] = ()


@dataclass(frozen=True)
class Observation:
    """What one probe showed.

    failure: the answer could not be tried at all. called: names of the torch functions that were
    called, and calls: how many (both only where the probe counts). warned: messages of warnings.
    reads: names of the notebook's numbers that the answer's code reads, and written: numbers that
    are in it. replaced: torch's own comparisons that are no longer what they were.
    """

    outcomes: tuple[Outcome, ...] = ()
    failure: Failure | None = None
    called: tuple[str, ...] = ()
    calls: int = 0
    warned: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    written: tuple[int | float, ...] = ()
    replaced: tuple[str, ...] = ()
